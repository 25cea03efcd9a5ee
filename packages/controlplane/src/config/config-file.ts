import type { Awaitable } from '@kubewright/base'

/** A configuration file that may change while the server runs. */
export interface ConfigFile<T> {
  readonly path: string
  /** The contents that the configuration was read from. */
  readonly text: string
  /** Parses new contents. Throws or rejects if they are not valid, or if they change what needs a restart. */
  parse(text: string): Awaitable<T>
}
