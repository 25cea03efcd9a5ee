import {
  closeSync,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { basename, dirname, extname, join } from 'node:path'
import type { Clock } from '@kubewright/base'
import type { RotationLimits } from '../config/audit-config.ts'

const dayMillis = 24 * 60 * 60 * 1000

/**
 * A log file that is renamed when it is full, as kube-apiserver's audit log: `audit.log` becomes `audit-2006-01-02T15-04-05.000.log`, with the
 * time in UTC. Writes are synchronous, so that a line is in the file before the response leaves.
 */
export class RotatingFile implements Disposable {
  readonly #path: string
  readonly #limits: RotationLimits
  readonly #clock: Pick<Clock, 'now'>
  #file: number
  #size: number

  /** Opens the file for appending and creates missing folders. Throws if that is not possible. */
  constructor(path: string, limits: RotationLimits, clock: Pick<Clock, 'now'>) {
    this.#path = path
    this.#limits = limits
    this.#clock = clock
    mkdirSync(dirname(path), { recursive: true, mode: 0o755 })
    this.#file = open(path)
    this.#size = fstatSync(this.#file).size
  }

  /** Appends a line. */
  write(line: string): void {
    const bytes = Buffer.from(`${line}\n`)
    if (this.#size > 0 && this.#size + bytes.length > this.#limits.maxBytes) this.#rotate()
    writeSync(this.#file, bytes)
    this.#size += bytes.length
  }

  [Symbol.dispose](): void {
    closeSync(this.#file)
  }

  #rotate(): void {
    const extension = extname(this.#path)
    const stem = this.#path.slice(0, this.#path.length - extension.length)
    // Somebody may have removed the file.
    if (existsSync(this.#path)) renameSync(this.#path, `${stem}-${timeText(this.#clock.now())}${extension}`)
    const next = open(this.#path)
    // The old file stays open until there is a new one: if a step fails, the next line is written to it, not to a closed descriptor.
    closeSync(this.#file)
    this.#file = next
    this.#size = 0
    this.#removeOld(basename(stem), extension)
  }

  #removeOld(stem: string, extension: string): void {
    const { maxBackups, maxAgeDays } = this.#limits
    const folder = dirname(this.#path)
    // The age is that of the name. Times as text have the order of the times.
    const times = readdirSync(folder)
      .filter((name) => name.startsWith(`${stem}-`) && name.endsWith(extension))
      .map((name) => name.slice(stem.length + 1, name.length - extension.length))
      .filter((text) => timePattern.test(text))
      .sort()
      .reverse()
    const oldest = maxAgeDays > 0 ? timeText(this.#clock.now() - maxAgeDays * dayMillis) : ''
    for (const [index, time] of times.entries()) {
      const isSurplus = maxBackups > 0 && index >= maxBackups
      if (isSurplus || time < oldest) rmSync(join(folder, `${stem}-${time}${extension}`), { force: true })
    }
  }
}

const timePattern = /^\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}\.\d{3}$/

function timeText(millis: number): string {
  return new Date(millis).toISOString().slice(0, -1).replaceAll(':', '-')
}

function open(path: string): number {
  return openSync(path, 'a', 0o600)
}
