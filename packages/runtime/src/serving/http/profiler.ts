/** Profiles the process of an operator. */
export interface Profiler {
  /** Starts a CPU profile. The returned function ends it and resolves to the profile in V8's `.cpuprofile` format. */
  startCpu(): Promise<() => Promise<string>>
  /** A snapshot of the heap in V8's `.heapsnapshot` format, in parts. Blocks the process while it is taken. */
  heap(): Promise<AsyncIterable<Uint8Array>>
}
