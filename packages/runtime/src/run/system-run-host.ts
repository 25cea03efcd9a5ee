import { systemClock, systemRandom } from '@kubewright/base'
import { createClient, loadClientConfig, transportFor } from '@kubewright/client'
import { systemHttpListener } from '../serving/http/system-http-listener.ts'
import type { RunHost, StopSignal } from './run-host.ts'
import { systemProfiler } from './system-profiler.ts'

const stopSignals: readonly StopSignal[] = ['SIGINT', 'SIGTERM']

/** The {@link RunHost} of this process. */
export function systemRunHost(): RunHost {
  return {
    args: process.argv.slice(2),
    env: process.env,
    clock: systemClock,
    random: systemRandom,
    hostname: process.getBuiltinModule('node:os').hostname(),
    isTerminal: process.stderr.isTTY === true,
    out: (line) => void process.stdout.write(`${line}\n`),
    note: (line) => void process.stderr.write(`${line}\n`),
    onStopSignal: (listener) => {
      for (const signal of stopSignals) process.on(signal, listener)
      return {
        [Symbol.dispose]: () => {
          for (const signal of stopSignals) process.off(signal, listener)
        },
      }
    },
    exit: (code) => process.exit(code),
    connect: async ({ kubeconfig, ...options }) => {
      const config = await loadClientConfig({ kubeconfig })
      const { credentials, impersonate, namespace, source } = config
      const api = createClient({ ...options, transport: transportFor(config), credentials, impersonate, namespace })
      return { api, namespace, source }
    },
    listener: systemHttpListener,
    process,
    profiler: systemProfiler,
  }
}
