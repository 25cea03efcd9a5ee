import { type Clock, systemClock } from '@kubewright/base'
import type { ProcessHost, ProcessSpec, RunningProcess } from './process-host.ts'

// Exit codes of shells: command not found, and the base for terminated by a signal.
const notFound = 127
const bySignal = 128
const signals: Readonly<Record<string, number>> = { SIGHUP: 1, SIGINT: 2, SIGKILL: 9, SIGTERM: 15 }

/**
 * Runs the programs of pods on this machine, with the privileges of this process. Use it only for pods from trusted
 * authors. As in a container, the children of a program are killed when it exits; all programs are killed when this
 * process exits.
 */
export function systemProcessHost(clock: Clock = systemClock): ProcessHost {
  const running = new Set<() => void>()
  const killAll = (): void => {
    for (const kill of running) kill()
  }
  return {
    start: (spec) => {
      const { kill, ...started } = startProcess(spec, clock)
      if (kill === undefined) return started
      if (running.size === 0) process.on('exit', killAll)
      running.add(kill)
      void started.exited.then(() => {
        running.delete(kill)
        if (running.size === 0) process.off('exit', killAll)
      })
      return started
    },
  }
}

// Windows has no process groups.
const hasGroups = process.platform !== 'win32'

interface Started extends RunningProcess {
  /** Kills the process and its children; absent when the process could not be started. */
  readonly kill?: (() => void) | undefined
}

function startProcess({ command, env, onLine, workingDir }: ProcessSpec, clock: Clock): Started {
  const [program, ...args] = command
  if (program === undefined) {
    onLine('No command: a container that runs a real process must name its command')
    return { exited: Promise.resolve(notFound), stop: () => undefined }
  }
  // Loaded with the first process, as most simulated nodes run none.
  const { spawn } = process.getBuiltinModule('node:child_process')
  const { createInterface } = process.getBuiltinModule('node:readline')
  const child = spawn(program, args, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A process group, so that the children can be killed too. Terminal signals do not reach it: the owner of the nodes
    // stops it.
    detached: hasGroups,
    ...(workingDir === undefined ? {} : { cwd: workingDir }),
  })
  for (const stream of [child.stdout, child.stderr]) createInterface({ input: stream }).on('line', onLine)
  const kill = (): void => {
    if (hasGroups && child.pid !== undefined) killGroup(child.pid)
    else child.kill('SIGKILL')
  }
  // Kill children that outlive their parent: they keep its output open, and the close event would never come.
  if (hasGroups) child.on('exit', kill)
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
    if (graceMillis > 0) {
      child.kill('SIGTERM')
      const timer = clock.setTimer(graceMillis, kill, 'grace period of a process')
      void exited.then(() => timer.cancel())
    } else kill()
  }
  return { exited, stop, kill }
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // The group has no processes left.
  }
}
