import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { KubewrightError } from '@kubewright/base'
import { launcherMark } from './launchers.ts'
import { compareVersions } from './version-selector.ts'

/** An operating system and an architecture, with Go's names. */
export interface Platform {
  readonly os: string
  readonly arch: string
}

const architectures: Readonly<Record<string, string>> = { x64: 'amd64', ia32: '386', ppc64: 'ppc64le' }

/** The platform of this process. Throws on Windows, which cannot start shell programs. */
export function thisPlatform(): Platform {
  if (process.platform === 'win32')
    throw new KubewrightError('KW_COMMAND', 'The programs of envtest need a shell, which Windows lacks: use WSL')
  return { os: process.platform, arch: architectures[process.arch] ?? process.arch }
}

/** The folders with programs for envtest below a folder (an absolute path), in the layout of setup-envtest: `k8s/1.36.4-linux-amd64`. */
export class AssetStore {
  readonly #root: string
  readonly #suffix: string

  constructor(folder: string, { os, arch }: Platform) {
    this.#root = join(folder, 'k8s')
    this.#suffix = `-${os}-${arch}`
  }

  /** The absolute path of the folder of a version. */
  path(version: string): string {
    return join(this.#root, `${version}${this.#suffix}`)
  }

  /** The versions whose programs are those of this command, newest first. Folders with programs of others are left out. */
  installed(): readonly string[] {
    const names = existsSync(this.#root) ? readdirSync(this.#root) : []
    return names
      .filter((name) => name.endsWith(this.#suffix))
      .map((name) => name.slice(0, -this.#suffix.length))
      .filter((version) => isOwn(join(this.path(version), 'kube-apiserver')))
      .sort((a, b) => compareVersions(b, a))
  }

  /** Writes the programs of a version. Throws if the folder has programs of others. */
  write(version: string, programs: ReadonlyMap<string, string>): void {
    const folder = this.path(version)
    for (const name of programs.keys()) {
      if (!existsSync(join(folder, name)) || isOwn(join(folder, name))) continue
      const fix = 'remove the folder, or choose another one with --bin-dir DIR'
      throw new KubewrightError('KW_COMMAND', `${join(folder, name)} is not a program of kubewright: ${fix}`)
    }
    mkdirSync(folder, { recursive: true })
    for (const [name, text] of programs) replace(join(folder, name), text)
  }

  /** Removes the folder of an installed version. */
  remove(version: string): void {
    rmSync(this.path(version), { recursive: true })
  }
}

/** Replaces a program in one step, because another process may start it at the same time. */
function replace(file: string, text: string): void {
  const draft = `${file}.${process.pid}.tmp`
  writeFileSync(draft, text)
  chmodSync(draft, 0o755)
  renameSync(draft, file)
}

/** Reads the first bytes only: programs of others are large. */
function isOwn(file: string): boolean {
  if (!existsSync(file)) return false
  const handle = openSync(file, 'r')
  try {
    const start = Buffer.alloc(100)
    readSync(handle, start)
    return start.toString().split('\n', 2)[1] === launcherMark
  } finally {
    closeSync(handle)
  }
}
