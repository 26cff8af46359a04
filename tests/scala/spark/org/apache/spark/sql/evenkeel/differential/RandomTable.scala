// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel.differential

import java.sql.{Date, Timestamp}
import java.time.{Duration, LocalDateTime, LocalTime, Period}

import scala.util.Random

import org.apache.spark.sql.types.{DataType, LongType, StructField, StructType}
import org.apache.spark.sql.{DataFrame, Row, SparkSession}

/** A column type with the values it is filled from: few, and every awkward one among them. */
final case class KeyType(ddl: String, values: IndexedSeq[Any]) {
  val dataType: DataType = DataType.fromDDL(ddl)

  /** Whether equal values may look different, so that any of them may represent a group. */
  def ambiguous: Boolean = ddl.contains("COLLATE")
}

object KeyType {
  private def numbers(of: Int => Any): IndexedSeq[Any] =
    IndexedSeq(-7, -1, 0, 1, 2, 3, 5, 8, 13, 100).map(of)

  private val words = IndexedSeq("", " ", "a", "A", "b", "B ", "äé", "ÄÉ", "a b", "zz")
  private val moments = IndexedSeq(-86400000L, -1L, 0L, 1L, 999L, 1700000000000L, 1710054000000L)

  val all: IndexedSeq[KeyType] = IndexedSeq(
    KeyType("BOOLEAN", IndexedSeq(true, false)),
    KeyType("TINYINT", numbers(_.toByte)),
    KeyType("SMALLINT", numbers(_.toShort)),
    KeyType("INT", numbers(identity)),
    KeyType("BIGINT", numbers(_.toLong * 3000000000L)),
    KeyType("FLOAT", IndexedSeq(0.0f, -0.0f, Float.NaN, 1.5f, -2.25f, Float.PositiveInfinity)),
    KeyType(
      "DOUBLE",
      IndexedSeq(0.0, -0.0, Double.NaN, 1.5, -2.25, 1e300, Double.NegativeInfinity)),
    KeyType(
      "DECIMAL(9, 2)",
      numbers(i => BigDecimal(i) / 4).map(_.asInstanceOf[BigDecimal].bigDecimal)),
    KeyType(
      "DECIMAL(38, 10)",
      numbers(i => BigDecimal("12345678901234567890.5") * i)
        .map(_.asInstanceOf[BigDecimal].bigDecimal)),
    KeyType("STRING", words),
    KeyType("STRING COLLATE UTF8_LCASE", words),
    KeyType("STRING COLLATE UNICODE_CI", words),
    KeyType("BINARY", words.map(_.getBytes("UTF-8"))),
    KeyType("DATE", moments.map(new Date(_))),
    KeyType("TIMESTAMP", moments.map(new Timestamp(_))),
    KeyType("TIMESTAMP_NTZ", (0 to 6).map(i => LocalDateTime.of(1969 + i, 12, 31, 23, 59, 59, i))),
    KeyType("TIME(6)", (0 to 6).map(i => LocalTime.of(i * 3, 59, 59, i * 1000))),
    KeyType("INTERVAL DAY TO SECOND", (-3 to 3).map(i => Duration.ofSeconds(i * 4321L))),
    KeyType("INTERVAL YEAR TO MONTH", (-3 to 3).map(i => Period.ofMonths(i * 7))),
    KeyType(
      "STRUCT<a: INT, b: STRING>",
      IndexedSeq(Row(1, "x"), Row(1, null), Row(null, "x"), Row(2, ""), Row(null, null))),
    KeyType("STRUCT<d: DOUBLE>", IndexedSeq(Row(0.0), Row(-0.0), Row(Double.NaN), Row(null))),
    KeyType(
      "ARRAY<INT>",
      IndexedSeq(Seq(1, 2), Seq(2, 1), Seq.empty[Int], Seq[Any](1, null), Seq(7))),
    KeyType("ARRAY<DOUBLE>", IndexedSeq(Seq(0.0), Seq(-0.0), Seq(Double.NaN), Seq.empty[Double])))
}

/** Columns k0, k1, k2 of random types, and values: u unique, i small, x exact fractions, s words. */
final case class RandomTable(name: String, keys: IndexedSeq[KeyType], rows: Int, skew: String)

object RandomTable {

  def create(spark: SparkSession, name: String, random: Random): RandomTable = {
    val keys = IndexedSeq.fill(3)(KeyType.all(random.nextInt(KeyType.all.size)))
    val rows = if (random.nextInt(12) == 0) 0 else 200 + random.nextInt(1200)
    val skew = Seq("uniform", "zipf", "one key")(random.nextInt(3))
    val schema = StructType(
      keys.zipWithIndex.map { case (k, i) => StructField(s"k$i", k.dataType) } ++
        Seq(StructField("u", LongType, nullable = false)) ++
        StructType.fromDDL("i INT, x DOUBLE, n DECIMAL(12, 3), s STRING, b BOOLEAN").fields)
    val data = (0 until rows).map { u =>
      val ks = keys.map(k => pick(k.values, random, skew))
      Row.fromSeq(
        ks ++ Seq(
          u.toLong,
          orNull(random, random.nextInt(9) - 4),
          orNull(random, (random.nextInt(64) - 32) / 8.0),
          orNull(random, BigDecimal(random.nextInt(5000) - 900, 3).bigDecimal),
          orNull(random, "w" + random.nextInt(6)),
          orNull(random, random.nextBoolean())))
    }
    val df: DataFrame = spark.createDataFrame(spark.sparkContext.parallelize(data, 3), schema)
    df.createOrReplaceTempView(name)
    RandomTable(name, keys, rows, skew)
  }

  private def pick(values: IndexedSeq[Any], random: Random, skew: String): Any =
    if (random.nextInt(10) == 0) null
    else
      skew match {
        case "uniform" => values(random.nextInt(values.size))
        case "zipf" =>
          values(math.min(values.size - 1, (1 / (0.05 + random.nextDouble())).toInt - 1 max 0))
        case _ => if (random.nextInt(50) > 0) values(0) else values(random.nextInt(values.size))
      }

  private def orNull(random: Random, value: Any): Any = if (random.nextInt(12) == 0) null else value
}
