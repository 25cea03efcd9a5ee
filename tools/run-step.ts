import { spawn } from 'node:child_process'

/** A command of a longer run. People see its label. */
export interface Step {
  readonly label: string
  readonly command: string
  readonly args: readonly string[]
}

/** The result of a step: its exit code and its output. */
export interface StepResult {
  readonly step: Step
  readonly code: number
  readonly output: string
  readonly seconds: number
}

/** Runs a step and captures its output, so that a successful run prints little. */
export function runStep(step: Step): Promise<StepResult> {
  const started = process.hrtime.bigint()
  return new Promise((resolve, reject) => {
    const child = spawn(step.command, [...step.args], { stdio: ['ignore', 'pipe', 'pipe'] })
    const chunks: Buffer[] = []
    child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk))
    child.stderr.on('data', (chunk: Buffer) => chunks.push(chunk))
    child.on('error', reject)
    child.on('close', (code) => {
      const seconds = Number(process.hrtime.bigint() - started) / 1e9
      resolve({ step, code: code ?? 1, output: Buffer.concat(chunks).toString(), seconds })
    })
  })
}
