// Reads the lines of a backup file, up to the maximum length that `backup` writes.
import { open } from 'node:fs/promises'
import { readLines } from '../../import-export/format/lines.ts'
import { MAX_BACKUP_LINE_BYTES } from '../../migration/backup-records.ts'
import { MoveError } from '../../migration/row-copies.ts'

/**
 * Throws `MoveError` for a line of more than `maxLineBytes` bytes. Yields an empty string for a line that is not UTF-8;
 * an empty line is never valid in a backup.
 */
export async function* linesOfBackup(path: string, maxLineBytes = MAX_BACKUP_LINE_BYTES): AsyncGenerator<string> {
  await using file = await open(path)
  for await (const { lines } of readLines(file, maxLineBytes)) {
    for (const { number, text, startOffset, endOffset } of lines) {
      if (text === null && endOffset - startOffset > maxLineBytes)
        throw new MoveError(`line ${number} of the backup is too long: longer than ${maxLineBytes} bytes`)
      yield text ?? ''
    }
  }
}
