// SPDX-License-Identifier: Apache-2.0
package io.evenkeel.core.spec

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import io.evenkeel.core.{Router, RouterContext}

/** A kind with one parameter of each type, so that the grammar is tested apart from the routers. */
private object SampleKind extends RouterKind("sample", "for tests") {
  val epsilon: Param[Double] = Param.double("epsilon", 0.1, 0, 1, "exploration")
  val d: Param[Int] = Param.int("d", 2, 1, 100, "choices")
  val maxFragments: Param[Int] = Param.int("maxFragments", 0, 0, Int.MaxValue, "cap")
  val forward: Param[Boolean] = Param.flag("forward", default = true, "forward keys")
  val load: Param[String] =
    Param.choice("load", "local", Seq("local" -> "local", "global" -> "global"), "estimate")
  val heavy: Param[Int] =
    Param.custom("heavy", 0, "all or top(k)", "who is heavy")(text =>
      if (text == "all") Some(0)
      else if (text.startsWith("top(") && text.endsWith(")"))
        text.drop(4).dropRight(1).toIntOption.filter(_ > 0)
      else None)(k => if (k == 0) "all" else s"top($k)")
  val params: Seq[Param[_]] = Seq(epsilon, d, maxFragments, forward, load, heavy)

  private[core] def create(spec: RouterSpec, context: RouterContext): Router =
    throw new UnsupportedOperationException("only parsed, never made")
}

private object OtherKind extends RouterKind("other", "for tests") {
  val params: Seq[Param[_]] = Seq.empty

  private[core] def create(spec: RouterSpec, context: RouterContext): Router =
    throw new UnsupportedOperationException("only parsed, never made")
}

class RouterSpecSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  import SampleKind._

  private val grammar = new SpecGrammar(Seq(SampleKind, OtherKind))

  private def failure(text: String): SpecException = intercept[SpecException](grammar.parse(text))

  test("a spec prints the options it was given, defaults included") {
    Seq(
      "sample",
      "sample(epsilon=0.1, d=2)",
      "sample(d=7, heavy=top(3), forward=off)",
      "sample(heavy=all)").foreach(text => assert(grammar.parse(text).toString == text))
  }

  test("blanks, letter case and underscores do not matter") {
    val spec = grammar.parse("  SAMPLE ( Max_Fragments = 3 ,forward=OFF ) ")
    assert(spec(maxFragments) == 3 && !spec(forward))
    assert(spec == grammar.parse("sample(maxFragments=3, forward=off)"))
  }

  test("a value left out equals the same value given") {
    assert(grammar.parse("sample") == grammar.parse("sample(epsilon=0.1)"))
    assert(grammar.parse("sample").hashCode == grammar.parse("sample(epsilon=0.1)").hashCode)
    assert(grammar.parse("sample") != grammar.parse("sample(epsilon=0.2)"))
    assert(grammar.parse("sample") != grammar.parse("other"))
  }

  test("any spec built in code prints to a text that parses back to it") {
    forAll(Gen.choose(0.0, 1.0), Gen.choose(1, 100), Gen.oneOf(true, false), Gen.choose(0, 50)) {
      (e, choices, fwd, top) =>
        val spec = SampleKind(epsilon := e, d := choices, forward := fwd, heavy := top)
        assert(grammar.parse(spec.toString) == spec)
    }
  }

  test("a list is split at commas outside parentheses only") {
    val specs = grammar.parseList("sample(epsilon=0.2, heavy=top(2)),other , sample")
    assert(specs.map(_.toString) == Seq("sample(epsilon=0.2, heavy=top(2))", "other", "sample"))
  }

  test("name and options given apart, as a hint does, make the same spec") {
    assert(
      grammar.parse("Sample", Seq("epsilon=0.05", "d=3")) == SampleKind(epsilon := 0.05, d := 3))
  }

  test("an unknown router names the nearest one") {
    val e = failure("sampel(d=3)")
    assert(e.condition == "EVENKEEL_UNKNOWN_ROUTER")
    assert(e.getMessage.contains("Did you mean 'sample'?"))
    assert(!failure("zzzzzzzzzzz").getMessage.contains("Did you mean"))
  }

  test("an unknown option names the nearest one and lists all") {
    val e = failure("sample(epsilom=0.3)")
    assert(e.condition == "EVENKEEL_UNKNOWN_OPTION")
    assert(
      e.getMessage.contains("Did you mean 'epsilon'?") && e.getMessage.contains("maxFragments"))
  }

  test("a value out of range names the range") {
    assert(failure("sample(epsilon=1.5)").getMessage.contains("a number from 0 to 1"))
    assert(failure("sample(epsilon=NaN)").getMessage.contains("a number from 0 to 1"))
    assert(failure("sample(d=0)").getMessage.contains("a whole number from 1 to 100"))
    assert(failure("sample(load=globl)").getMessage.contains("one of local, global"))
    assert(failure("sample(heavy=top(0))").getMessage.contains("all or top(k)"))
    assertThrows[SpecException](epsilon := 2.0)
  }

  test("malformed texts are refused, each with its own condition") {
    assert(failure("").condition == "EVENKEEL_NO_ROUTER")
    assert(failure("sample(d=3").condition == "EVENKEEL_BAD_ROUTER_TEXT")
    assert(failure("sample(d=3))").condition == "EVENKEEL_BAD_ROUTER_TEXT")
    assert(failure("sample(d=3)(d=4)").condition == "EVENKEEL_BAD_ROUTER_TEXT")
    assert(failure("sample(d)").condition == "EVENKEEL_OPTION_WITHOUT_VALUE")
    assert(failure("sample(d=3, D=4)").condition == "EVENKEEL_OPTION_GIVEN_TWICE")
  }

  test("another default is used but not printed, and given values win over it") {
    val spec = grammar.parse("sample").withDefault("d", "9")
    assert(spec(d) == 9 && spec.toString == "sample")
    assert(grammar.parse("sample(d=4)").withDefault("d", "9")(d) == 4)
    assert(grammar.parse("other").withDefault("d", "9") == grammar.parse("other"))
  }

  test("every kind of the product has a lower-case name of its own, and documents each parameter") {
    val kinds = RouterKinds.all
    assert(kinds.map(_.name).distinct.size == kinds.size)
    kinds.foreach { kind =>
      assert(kind.name.matches("[a-z_]+"), kind.name)
      assert(RouterSpec.parse(kind.name).kind eq kind)
      kind.params.foreach { p =>
        assert(p.doc.nonEmpty && p.name.matches("[a-z][a-zA-Z0-9]*"), s"${kind.name}.${p.name}")
      }
      assert(kind.params.map(_.name).distinct.size == kind.params.size, kind.name)
    }
  }

  test("every default of the product is an allowed value") {
    def check[T](p: Param[T]): Boolean = p.accepts(p.default)
    RouterKinds.all.foreach { kind =>
      kind.params.foreach(p => assert(check(p), s"${kind.name}(${p.name})"))
    }
  }
}
