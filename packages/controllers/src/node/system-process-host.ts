import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { type Clock, systemClock } from '@kubewright/base'
import type { ProcessHost, ProcessSpec, RunningProcess } from './process-host.ts'

// Exit codes of shells: not found, and ended by a signal.
const notFound = 127
const bySignal = 128
const signals: Readonly<Record<string, number>> = { SIGHUP: 1, SIGINT: 2, SIGKILL: 9, SIGTERM: 15 }

/** Runs the programs of pods on this machine, with the rights of this process. Only for pods whose authors are trusted. */
export function systemProcessHost(clock: Clock = systemClock): ProcessHost {
  return { start: (spec) => startProcess(spec, clock) }
}

function startProcess({ command, env, onLine, workingDir }: ProcessSpec, clock: Clock): RunningProcess {
  const [program, ...args] = command
  if (program === undefined) {
    onLine('No command: a container that runs a real process must name its command')
    return { exited: Promise.resolve(notFound), stop: () => undefined }
  }
  const child = spawn(program, args, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(workingDir === undefined ? {} : { cwd: workingDir }),
  })
  for (const stream of [child.stdout, child.stderr]) createInterface({ input: stream }).on('line', onLine)
  let ended = false
  const exited = new Promise<number>((resolve) => {
    const end = (code: number): void => {
      ended = true
      resolve(code)
    }
    child.on('error', (error) => {
      onLine(error.message)
      end(notFound)
    })
    child.on('close', (code, signal) => end(code ?? bySignal + (signals[signal ?? ''] ?? 0)))
  })
  const stop = (graceMillis: number): void => {
    if (ended) return
    child.kill(graceMillis > 0 ? 'SIGTERM' : 'SIGKILL')
    if (graceMillis <= 0) return
    const timer = clock.setTimer(graceMillis, () => void child.kill('SIGKILL'), 'grace period of a process')
    void exited.then(() => timer.cancel())
  }
  return { exited, stop }
}
