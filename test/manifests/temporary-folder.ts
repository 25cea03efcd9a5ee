import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

/** A temporary folder, removed when disposed. */
export class TemporaryFolder implements Disposable {
  readonly path: string = mkdtempSync(join(tmpdir(), 'kubewright-manifests-'))

  /** Writes files by path, and creates their folders. */
  write(files: Iterable<readonly [path: string, text: string]>): void {
    for (const [path, text] of files) {
      const file = join(this.path, path)
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, text)
    }
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true })
  }
}
