import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { UsageError } from '@kubewright/base'
import { type CommandContext, folderOf } from '../command/command-context.ts'

/** The paths of a control plane's folder. */
export interface DataFolder {
  readonly path: string
  /** The objects. */
  readonly store: string
  /** The keys and certificates. */
  readonly pki: string
}

/** The folder of a control plane, as `up --data` names it. */
export function dataFolder(data: string, context: Pick<CommandContext, 'folder'>): DataFolder {
  const path = resolve(folderOf(context), data)
  return { path, store: join(path, 'store'), pki: join(path, 'pki') }
}

/** Throws a UsageError when the folder has no store. */
export function assertStore(data: string, { store }: DataFolder): void {
  if (existsSync(store)) return
  throw new UsageError(
    `${data} has no stored objects: name the folder of a control plane that was started with kubewright up; objects in etcd have the tools of etcd`,
  )
}

/** A time as part of a file name: 20261116-083000. */
export function timeName(now: number): string {
  return new Date(now).toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-')
}
