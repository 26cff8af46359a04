// Three modules: core (pure algorithms), spark (the extension), bench (simulator, figures, JMH).

// The version lives once, in pyproject.toml.
ThisBuild / version := {
  val line = IO
    .readLines((ThisBuild / baseDirectory).value / "pyproject.toml")
    .find(_.startsWith("version"))
    .getOrElse(sys.error("pyproject.toml has no line that starts with 'version'"))
  line.split('"')(1)
}
ThisBuild / organization := "io.evenkeel"
ThisBuild / scalaVersion := "2.13.18"
ThisBuild / licenses := Seq("Apache-2.0" -> url("https://www.apache.org/licenses/LICENSE-2.0"))
ThisBuild / semanticdbEnabled := true
ThisBuild / semanticdbVersion := "4.14.2"
ThisBuild / scalacOptions ++= Seq(
  "-deprecation",
  "-feature",
  "-unchecked",
  "-encoding",
  "utf-8",
  "-release",
  "17",
  "-Xlint",
  "-Wunused",
  "-Wvalue-discard",
  "-Werror")

Global / concurrentRestrictions := Seq(
  Tags.limitAll(2),
  Tags.limit(Tags.ForkedTestGroup, 2),
  Tags.exclusiveGroup(Tags.Clean))

val sparkMinor = "4.2"
val sparkVersion = "4.2.0"

// Libraries that Spark brings along: compiled against, never packed.
val datasketches = "org.apache.datasketches" % "datasketches-java" % "6.2.0" % Provided
val testLibraries = Seq(
  "org.scalatest" %% "scalatest" % "3.2.20" % Test,
  "org.scalacheck" %% "scalacheck" % "1.20.0" % Test,
  "org.scalatestplus" %% "scalacheck-1-18" % "3.2.19.0" % Test)

// What Spark on Java 17 needs to reach inside the JDK; the same list as Spark's own launcher.
val javaModules = Seq(
  "java.lang",
  "java.lang.invoke",
  "java.lang.reflect",
  "java.io",
  "java.net",
  "java.nio",
  "java.util",
  "java.util.concurrent",
  "java.util.concurrent.atomic",
  "jdk.internal.ref",
  "sun.nio.ch",
  "sun.nio.cs",
  "sun.security.action",
  "sun.util.calendar").map(p => s"--add-opens=java.base/$p=ALL-UNNAMED")

def module(name: String): Seq[Def.Setting[_]] = Seq(
  moduleName := s"evenkeel-$name",
  Test / scalaSource := (ThisBuild / baseDirectory).value / "tests" / "scala" / name,
  Test / resourceDirectory := (ThisBuild / baseDirectory).value / "tests" / "scala" / name / "resources",
  Test / fork := true,
  Test / baseDirectory := (ThisBuild / baseDirectory).value,
  Test / testOptions += Tests.Argument(TestFrameworks.ScalaTest, "-oD"),
  // Tests hardly ever run the same code for long: the second compiler, and a collector that works beside, would
  // take a third of two cores.
  Test / javaOptions ++= Seq(
    "-Xmx3g",
    "-XX:TieredStopAtLevel=1",
    "-XX:+UseParallelGC") ++ javaModules,
  libraryDependencies ++= testLibraries)

lazy val core = (project in file("scala/core"))
  .settings(module("core"))
  .settings(
    libraryDependencies += datasketches,
    // Algorithms know no engine: a Spark class that reaches this class path is a build error.
    Compile / compile := {
      val strangers =
        (Compile / dependencyClasspath).value.map(_.data.getName).filter(_.startsWith("spark-"))
      if (strangers.nonEmpty)
        sys.error(s"scala/core must not see Spark, but found ${strangers.mkString(", ")}")
      (Compile / compile).value
    })

lazy val spark = (project in file("scala/spark"))
  .dependsOn(core)
  .enablePlugins(BuildInfoPlugin)
  .settings(module(s"spark"))
  .settings(
    moduleName := s"evenkeel-spark_$sparkMinor",
    libraryDependencies ++= Seq(
      "org.apache.spark" %% "spark-sql" % sparkVersion % Provided,
      // For the SQL files of Spark's own tests, which are run routed.
      ("org.apache.spark" %% "spark-sql" % sparkVersion % Test).classifier("tests").intransitive(),
      // A sink that tells whether a batch came once: crashed streams write into it.
      "io.delta" %% s"delta-spark_$sparkMinor" % "4.4.0" % Test),
    // A process each, two side by side: as even as these groups are, no core idles in the end.
    Test / testGrouping := {
      val fork = Tests.SubProcess((Test / forkOptions).value)
      val groups =
        Seq(".state.crash." -> "crashes", ".cluster." -> "clusters", ".state." -> "streams")
      (Test / definedTests).value
        .groupBy(t => groups.collectFirst { case (part, to) if t.name.contains(part) => to })
        .map { case (name, tests) => Tests.Group(name.getOrElse("batch"), tests, fork) }
        .toSeq
    },
    buildInfoPackage := "io.evenkeel",
    buildInfoObject := "BuildInfo",
    buildInfoKeys := Seq[BuildInfoKey](
      version,
      "sparkVersion" -> sparkVersion,
      "sparkMinor" -> sparkMinor),
    assembly / assemblyOption ~= { _.withIncludeScala(false) },
    assembly / assemblyJarName := s"evenkeel-spark_${sparkMinor}_2.13-${version.value}.jar")

lazy val bench = (project in file("scala/bench"))
  .dependsOn(core, spark % Provided)
  .enablePlugins(JmhPlugin)
  .settings(module("bench"))
  .settings(
    // On its own outside Spark, so here datasketches is an ordinary dependency. Spark is there for the
    // measured streams alone, which run inside it.
    libraryDependencies ++= Seq(
      datasketches.withConfigurations(Some("compile")),
      ("org.apache.spark" %% "spark-sql" % sparkVersion % Provided)),
    Compile / packageBin / artifactName := { (_, _, _) =>
      s"evenkeel-bench_2.13-${version.value}.jar"
    })

/** Both jars into python/evenkeel/jars, where the wheel and the editable install find them. */
lazy val stageJars = taskKey[Unit]("Builds the jars and puts them into the Python package")

lazy val root = (project in file("."))
  .aggregate(core, spark, bench)
  .settings(
    publish / skip := true,
    stageJars / aggregate := false,
    stageJars := {
      val into = (ThisBuild / baseDirectory).value / "python" / "evenkeel" / "jars"
      val jars = Seq((spark / assembly).value, (bench / Compile / packageBin).value)
      // The stamp, which make compares with the sources, is there only while the jars are whole.
      val stamp = into / ".staged"
      IO.delete(stamp)
      val wanted = jars.map(_.getName).toSet
      IO.listFiles(into).filterNot(f => wanted(f.getName)).foreach(IO.delete)
      jars.foreach(j => IO.copyFile(j, into / j.getName))
      IO.write(stamp, jars.map(_.getName).mkString("", "\n", "\n"))
    })

// Compiled before scalafix looks: what scalafix compiles by itself, without -Werror, would all be
// compiled once more afterwards.
addCommandAlias("lint", "scalafmtCheckAll; scalafmtSbtCheck; Test / compile; scalafixAll --check")
addCommandAlias("fmt", "scalafixAll; scalafmtAll; scalafmtSbt")
