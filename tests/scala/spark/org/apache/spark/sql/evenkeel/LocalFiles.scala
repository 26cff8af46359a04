// SPDX-License-Identifier: Apache-2.0
package org.apache.spark.sql.evenkeel

import java.net.URI
import java.nio.file.Files
import java.nio.file.attribute.PosixFilePermissions

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.permission.FsPermission
import org.apache.hadoop.fs.{
  ChecksumFs,
  DelegateToFileSystem,
  FileStatus,
  FsConstants,
  LocalFileSystem,
  Path,
  RawLocalFileSystem
}

/**
 * Hadoop's local file system, which without its native library starts a process for every file that it gives a
 * mode to (`chmod`) or renames (`readlink`): most of the time of a streaming test. Here Java does both.
 *
 * `core-site.xml` of the tests' resources names the classes, so that child processes and executors have them too.
 */
final class QuickRawFileSystem extends RawLocalFileSystem {

  override def setPermission(path: Path, permission: FsPermission): Unit = {
    // The first character is the sticky bit's, or the type's.
    val mode = permission.toString.takeRight(9).replace('t', 'x').replace('T', '-')
    Files.setPosixFilePermissions(pathToFile(path).toPath, PosixFilePermissions.fromString(mode))
    ()
  }

  /** No test makes symbolic links. */
  override def getFileLinkStatus(path: Path): FileStatus = getFileStatus(path)
}

/** With checksums, as a `FileSystem`. */
final class QuickLocalFileSystem extends LocalFileSystem(new QuickRawFileSystem)

/** With checksums, as an `AbstractFileSystem`: checkpoints are written through these. */
final class QuickLocalFs(uri: URI, conf: Configuration)
    extends ChecksumFs(new QuickRawFs(uri, conf))

private final class QuickRawFs(uri: URI, conf: Configuration)
    extends DelegateToFileSystem(
      uri,
      new QuickRawFileSystem,
      conf,
      FsConstants.LOCAL_FS_URI.getScheme,
      false) {
  override def getUriDefaultPort: Int = -1

  override def isValidName(source: String): Boolean = true
}
