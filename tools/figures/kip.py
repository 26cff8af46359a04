# SPDX-License-Identifier: Apache-2.0
"""004, KIP: Figures 2 to 5."""

from __future__ import annotations

from pathlib import Path

from figures.page import Page, colour, number
from figures.simulations import Simulations

TARGETS = (8, 16, 32, 64, 128, 256)
SLOTS = 40


def figure_2(sims: Simulations, folder: Path) -> Page:
    """Imbalance on Zipf-1 data against the number of partitions; the effect of λ."""
    page = Page("004-fig-2", "004 Fig. 2: imbalance against the number of partitions")
    seeds = (7, 8)
    rivals = ("hash", "kip(lambda=2)", "scan", "readj", "redist", "mixed")
    lambdas = tuple(f"kip(lambda={x})" for x in (1, 2, 3, 4, 8))
    routers = ",".join(dict.fromkeys((*rivals, *lambdas)))
    command = (
        f'--router "{routers}" --trace zipf:1.0:100000 --batches 2 --batch-rows 2000000 '
        f"--targets {','.join(map(str, TARGETS))} --force-update --rounds 3"
    )
    (table,) = sims.tables([command], seeds=seeds, label="004 Fig. 2")
    page.text(
        """Max/avg on 4M rows of Zipf 1.0 over 100k keys: half of them give the histogram, the
        other half is measured. Stated (§5): Hash and Readj grow linearly with N, Redist and
        Scan like Readj, Mixed much slower, KIP "stays below 1.2"; a higher λ is better.""",
        """KIP never splits a key and the top key has p1 = 8.3 % of the rows, so max/avg cannot
        be below p1 N: 1.3 at N = 16 and 21 at N = 256. "Below 1.2" can only be meant over that
        bound, so the tables show max/avg and max / max(avg, p1), where 1 is the best a
        whole-key method can do.""",
    )
    page.commands([command], seeds)
    page.heading("max/avg, then max / max(avg, p1)")
    page.table(
        ["method", *(f"N={n}" for n in TARGETS), "paper"],
        [
            [
                r,
                *(
                    f"{number(table[r, n].mean('max_over_avg'))}, "
                    f"{table[r, n].mean('max_over_bound'):.3f}"
                    for n in TARGETS
                ),
                paper,
            ]
            for r, paper in zip(
                rivals,
                ("linear", "below 1.2", "as Readj", "linear", "as Readj", "much slower than Hash"),
                strict=True,
            )
        ],
    )
    page.heading("λ: max / max(avg, p1)")
    page.table(
        ["λ", *(f"N={n}" for n in TARGETS)],
        [
            [r[11:-1], *(f"{table[r, n].mean('max_over_bound'):.3f}" for n in TARGETS)]
            for r in lambdas
        ],
    )
    with page.plot(folder, 3, width=3.7) as (_, axes):
        for r in rivals:
            style = {"color": colour(r), "label": r.split("(")[0], "marker": "o", "ms": 3}
            axes[0].plot(TARGETS, [table[r, n].mean("max_over_avg") for n in TARGETS], **style)
            axes[1].plot(TARGETS, [table[r, n].mean("max_over_bound") for n in TARGETS], **style)
        for i, r in enumerate(lambdas):
            axes[2].plot(
                TARGETS,
                [table[r, n].mean("max_over_bound") for n in TARGETS],
                "o-",
                ms=3,
                color=(0.1, 0.75 - 0.14 * i, 0.85 - 0.1 * i),
                label=f"λ = {r[11:-1]}",
            )
        axes[0].set(yscale="log", ylabel="max / avg")
        axes[1].set(ylabel="max / max(avg, p1)")
        axes[1].axhline(1.2, color="black", lw=0.6, ls=":")
        axes[2].set(ylabel="max / max(avg, p1)", title="KIP")
        for ax in axes:
            ax.set(xscale="log", xlabel="partitions N")
            ax.set_xticks(TARGETS, [str(n) for n in TARGETS])
            ax.minorticks_off()
            ax.legend(fontsize=7)
    worst = max(table["kip(lambda=2)", n].mean("max_over_bound") for n in TARGETS)
    page.judge(
        "Reproduced over the bound; as max/avg the claim cannot hold",
        f"""KIP with λ = 2 is at most {worst:.2f} times max(avg, p1) at any N and best of all;
        as max/avg "below 1.2" is impossible past N = 14. Hash grows linearly and Scan, Redist
        and Readj stay near it, as stated: they balance the tracked keys and leave the tail
        where it hashes. Mixed is in between. A higher λ helps at few partitions and cannot help
        where the top key alone decides.""",
    )
    return page


def figure_3(sims: Simulations, folder: Path) -> Page:
    """Imbalance and migration over a drifting stream."""
    page = Page("004-fig-3", "004 Fig. 3: imbalance and state migration over 20 batches")
    seeds = (7,)
    rivals = (
        "hash",
        "kip(lambda=2)",
        "kip",
        "scan",
        "readj",
        "readj(compute=quadratic)",
        "redist",
        "mixed",
    )
    commands = [
        f'--router "{",".join(rivals)}" --trace {trace} --batches 20 --batch-rows 100000 '
        "--targets 20 --state-window 5 --force-update --rounds 10 --series"
        for trace in ("drift:0.9:100000:400000", "drift:0.9:100000:100000")
    ]
    slow, fast = sims.tables(commands, seeds=seeds, label="004 Fig. 3")
    page.text(
        """Set-up of §5: 20 batches of 100k rows, 20 partitions, state linear in a key's rows
        over the last 5 batches, an update forced after each batch, 10 rounds with other key
        names. The LastFM tags cannot be had: ours is Zipf 0.9 over 100k keys, whose 64 heaviest
        keys are replaced every 4 batches, or every batch. Stated: all start near max/avg 2.0;
        KIP's imbalance is 41 %, 29 % and 26 % below Hash, Scan and Readj; the first migration
        is heavy; later Readj moves 4 times as much as KIP; Scan moves less than KIP.""",
    )
    page.commands(commands, seeds)
    paper = {
        "hash": ("-41%", ""),
        "scan": ("-29%", "below 1"),
        "readj": ("-26%", "4"),
        "redist": ("as Scan", ""),
    }
    for title, table in (("every 4 batches", slow), ("every batch", fast)):
        base = table["kip(lambda=2)", 20].mean("max_over_avg")
        moved = table["kip(lambda=2)", 20].mean("migration_steady")
        page.heading(f"Heavy keys change {title}")
        page.table(
            [
                "method",
                "max/avg",
                "KIP below it: paper",
                "ours",
                "first migration",
                "steady migration",
                "of KIP's: paper",
                "ours",
                "ms per update",
            ],
            [
                [
                    r,
                    table[r, 20].mean("max_over_avg"),
                    paper.get(r, ("", ""))[0],
                    f"{(base / table[r, 20].mean('max_over_avg') - 1):+.0%}",
                    table[r, 20].mean("migration_first"),
                    table[r, 20].mean("migration_steady"),
                    paper.get(r, ("", ""))[1],
                    f"{table[r, 20].mean('migration_steady') / moved:.2f}",
                    table[r, 20].mean("update_ms"),
                ]
                for r in rivals
            ],
        )
    with page.plot(folder, 2) as (_, axes):
        for r in ("hash", "kip(lambda=2)", "scan", "readj"):
            rows, imbalance = slow[r, 20].over_time("imbalance")
            batches = [row // 100_000 - 1 for row in rows]
            name = r.split("(")[0]
            axes[0].plot(
                batches, [i + 1 for i in imbalance], "o-", ms=3, color=colour(r), label=name
            )
            if r != "hash":
                moves = slow[r, 20].over_time("migration")[1]
                axes[1].plot(batches[:-1], moves[:-1], "o-", ms=3, color=colour(r), label=name)
        axes[0].set(xlabel="batch", ylabel="max / avg", title="heavy keys change every 4 batches")
        axes[1].set(xlabel="update", ylabel="state moved / all state")
        for ax in axes:
            ax.set_xticks(range(0, 20, 4))
        for ax in axes:
            ax.legend(fontsize=7)
    kip = slow["kip(lambda=2)", 20]
    start = slow["hash", 20].over_time("imbalance")[1][0] + 1
    ratio = slow["readj", 20].mean("migration_steady") / kip.mean("migration_steady")
    gain = {
        r: 1 - kip.mean("max_over_avg") / slow[r, 20].mean("max_over_avg")
        for r in ("hash", "scan", "readj")
    }
    page.judge(
        "Balance reproduced in order, migration the other way round",
        f"""KIP is {gain["hash"]:.0%}, {gain["scan"]:.0%} and {gain["readj"]:.0%} below Hash,
        Scan and Readj (paper 41, 29, 26 %), from a start of {start:.2f} (paper about 2.0), if the
        heavy keys stay for some batches; if they change with every batch, the histogram of the
        last one helps nobody. Readj moves {ratio:.2f} times what KIP moves, where the paper has 4:
        with the paper's settings (linear resource functions, θ = 0.2, an update forced on each
        batch, a state window of 5, key names drawn anew) our Readj accepts the balance it has
        and moves little, while KIP moves with every change of the heavy keys. The drift of the
        LastFM tags is unknown. KIP's first migration is
        light here, because our KIP starts as plain hashing; the published code builds a new
        ring and moves 62-74 % of the state.""",
    )
    return page


def figure_4(sims: Simulations, folder: Path) -> Page:
    """Gain of repartitioning by Zipf exponent."""
    page = Page("004-fig-4", "004 Fig. 4: imbalance by Zipf exponent, 35 partitions")
    seeds = (7,)
    exponents = (0.6, 0.8, 1.0, 1.1, 1.2, 1.3, 1.4, 1.6, 1.8, 2.0)
    commands = [
        f'--router "hash,kip(lambda=2),kip" --trace zipf:{s}:1000000 --batches 3 '
        "--batch-rows 1750000 --targets 35 --force-update --rounds 3"
        for s in exponents
    ]
    tables = sims.tables(commands, seeds=seeds, label="004 Fig. 4")
    gains = [
        t["hash", 35].mean("max_over_avg") / t["kip(lambda=2)", 35].mean("max_over_avg")
        for t in tables
    ]
    page.text(
        """Zipf data of exponent 1 to 2 over 1M keys, 35 partitions, batches of 35 x 50 000
        rows. The left panel of the paper is max/avg with and without DR (KIP), the right one
        processing time, which is not measured here; a stage lasts as long as its fullest
        partition, so hash/KIP of the fullest partition stands behind it. Stated: gain at
        moderate exponents; none needed near 1; none possible near 2, where the heaviest key
        dominates. Speed-up 1.5 to 2 (abstract).""",
    )
    page.commands(commands[:1], seeds)
    page.text("The same for the other exponents.")
    page.table(
        [
            "exponent",
            "hash max/avg",
            "KIP λ=2",
            "KIP λ=8",
            "hash / KIP λ=2",
            "KIP over max(avg, p1)",
        ],
        [
            [
                s,
                t["hash", 35].mean("max_over_avg"),
                t["kip(lambda=2)", 35].mean("max_over_avg"),
                t["kip", 35].mean("max_over_avg"),
                f"{gain:.3f}",
                f"{t['kip(lambda=2)', 35].mean('max_over_bound'):.3f}",
            ]
            for s, t, gain in zip(exponents, tables, gains, strict=True)
        ],
    )
    with page.plot(folder, 2) as (_, axes):
        for r in ("hash", "kip(lambda=2)"):
            axes[0].plot(
                exponents,
                [t[r, 35].mean("max_over_avg") for t in tables],
                "o-",
                ms=3,
                color=colour(r),
                label=r.split("(")[0],
            )
        axes[0].set(xlabel="Zipf exponent", ylabel="max / avg")
        axes[0].legend(fontsize=7)
        axes[1].plot(exponents, gains, "o-", ms=3, color=colour("kip"))
        axes[1].set(xlabel="Zipf exponent", ylabel="fullest partition, hash / KIP")
    page.judge(
        "Reproduced in shape",
        f"""KIP's gain is {gains[0]:.2f} at exponent 0.6, most at
        {exponents[gains.index(max(gains))]} ({max(gains):.2f}), and {gains[-1]:.2f} at 2, where the
        top key is the fullest partition: a gain at moderate skew only, but at lower exponents than
        the paper's, because with 35 partitions the top key outweighs an average partition from
        exponent 0.9 on. The paper's 1.5-2 is time of a job whose cost per group is not linear
        (sorting, a language model), which a count of rows does not show.""",
    )
    return page


def figure_5(sims: Simulations, folder: Path) -> Page:
    """Over-partitioning against repartitioning."""
    page = Page("004-fig-5", "004 Fig. 5: over-partitioning, exponent 1.5")
    seeds = (7,)
    targets = (20, 40, 80, 120, 160, 200, 280)
    command = (
        '--router "hash,kip(lambda=2),kip" --trace zipf:1.5:1000000 --batches 3 '
        "--batch-rows 1750000 "
        f"--targets {','.join(map(str, targets))} --force-update --rounds 3"
    )
    (table,) = sims.tables([command], seeds=seeds, label="004 Fig. 5")
    page.text(
        f"""Max/avg (right panel of the paper) with and without DR against the number of
        partitions, on a cluster of {SLOTS} slots. The left panel is time and not measured; what
        stands behind it is the fullest partition's share of all rows, which bounds a stage from
        below. Stated: DR is best at 2-3 times the slots; without DR more partitions keep
        helping, but never reach DR.""",
    )
    page.commands([command], seeds)
    page.table(
        [
            "N",
            "N / slots",
            "hash max/avg",
            "KIP max/avg",
            "hash: fullest share",
            "KIP: fullest share",
        ],
        [
            [
                n,
                n / SLOTS,
                table["hash", n].mean("max_over_avg"),
                table["kip(lambda=2)", n].mean("max_over_avg"),
                f"{table['hash', n].mean('max_over_avg') / n:.4f}",
                f"{table['kip(lambda=2)', n].mean('max_over_avg') / n:.4f}",
            ]
            for n in targets
        ],
    )
    with page.plot(folder, 2) as (_, axes):
        for r in ("hash", "kip(lambda=2)"):
            values = [table[r, n].mean("max_over_avg") for n in targets]
            name = r.split("(")[0]
            axes[0].plot(
                targets,
                [v / n for v, n in zip(values, targets, strict=True)],
                "o-",
                ms=3,
                color=colour(r),
                label=name,
            )
            axes[1].plot(targets, values, "o-", ms=3, color=colour(r), label=name)
        axes[0].set(xlabel="partitions", ylabel="fullest partition, share of rows")
        axes[1].set(xlabel="partitions", ylabel="max / avg")
        axes[1].legend(fontsize=7)
    first, last = targets[0], targets[-1]
    page.judge(
        "Reproduced in direction",
        f"""The fullest partition under hash falls from
        {table["hash", first].mean("max_over_avg") / first:.3f} of the rows (N = {first})
        towards the top key's own share ({table["hash", last].mean("max_over_avg") / last:.3f}
        at N = {last}) and stays above KIP's, which is at that bound from the start: more
        partitions help hash, never past KIP. Where the optimum lies is a matter of scheduling
        overhead, which is not simulated.""",
    )
    return page


FIGURES = (figure_2, figure_3, figure_4, figure_5)
