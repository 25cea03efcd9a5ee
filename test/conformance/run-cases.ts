import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Case, CaseFile } from './case-format.ts'
import { CaseRunner, type RunParts } from './case-runner.ts'
import { CaseFailure, type Difference } from './compare.ts'
import { HttpClient } from './http-client.ts'
import { valueAt } from './object-path.ts'
import type { Target } from './target.ts'
import { WebhookHost } from './webhook-host.ts'

/** A case and its area. */
export interface AreaCase {
  readonly area: string
  readonly test: Case
}

/** The result of a case. */
export interface CaseResult {
  readonly area: string
  readonly id: string
  readonly outcome: 'passed' | 'failed' | 'skipped'
  readonly millis: number
  /** The differences of a failed case. */
  readonly differences: readonly Difference[]
  /** For a skipped case: the capabilities that the server lacks. */
  readonly missing: readonly string[]
}

/** Options of {@link runCases}. */
export interface RunOptions {
  readonly target: Target
  readonly cases: readonly AreaCase[]
  /** Whether the server runs controllers. @default false */
  readonly controllers?: boolean
  /** The number of concurrent cases. @default 4 */
  readonly concurrency?: number
  /** The timeout of a case without its own, in seconds. @default 90 */
  readonly timeoutSeconds?: number
  /** The seed of unique names. @default random */
  readonly runId?: string
  readonly onResult?: (result: CaseResult) => void
  /** See {@link RunParts.record}. */
  readonly record?: RunParts['record']
}

/** All recorded cases. */
export function recordedCases(): AreaCase[] {
  const folder = join(import.meta.dirname, 'cases')
  return readdirSync(folder)
    .sort()
    .flatMap((file) => {
      const { area, cases } = JSON.parse(readFileSync(join(folder, file), 'utf8')) as CaseFile
      return cases.map((test) => ({ area, test }))
    })
}

/** Runs cases against a server, serial cases last. Results are in the order of the cases. */
export async function runCases(options: RunOptions): Promise<CaseResult[]> {
  const { target, cases, controllers = false, concurrency = 4 } = options
  using client = new HttpClient(target)
  await using webhooks = await WebhookHost.start()
  const parts: RunParts = {
    client,
    webhooks,
    names: {
      serverHosts: [target.server, ...(target.peers ?? [])].map(({ host }) => host),
      webhookBase: webhooks.base,
      caBundle: webhooks.caBundle,
      self: await whoAmI(client),
    },
    runId: options.runId ?? String(Math.random()),
    record: options.record,
    capabilities: new Set([controllers ? 'kcm' : 'no-kcm', 'webhook', ...(target.clientCa ? ['client-ca'] : [])]),
  }
  const results = new Map<AreaCase, CaseResult>()
  const run = async (one: AreaCase): Promise<void> => {
    const result = await runCase(one, parts, options.timeoutSeconds ?? 90)
    results.set(one, result)
    options.onResult?.(result)
  }
  // Cases that wait for controllers take longest, so they start first.
  const waits = ({ test }: AreaCase): number => (test.needs?.includes('kcm') ? 0 : 1)
  const queue = cases.filter(({ test }) => !test.serial).sort((a, b) => waits(a) - waits(b))
  const worker = async (): Promise<void> => {
    for (let next = queue.shift(); next; next = queue.shift()) await run(next)
  }
  await Promise.all(Array.from({ length: concurrency }, worker))
  for (const one of cases) if (one.test.serial) await run(one)
  return cases.map((one) => results.get(one)!)
}

async function runCase({ area, test }: AreaCase, parts: RunParts, seconds: number): Promise<CaseResult> {
  const start = Date.now()
  const missing = (test.needs ?? []).filter((need) => !parts.capabilities.has(need))
  const result = (outcome: CaseResult['outcome'], differences: readonly Difference[] = []): CaseResult => ({
    area,
    id: test.id,
    outcome,
    millis: Date.now() - start,
    differences,
    missing,
  })
  if (missing.length > 0) return result('skipped')
  const limit = test.timeoutS ?? seconds
  let timer: NodeJS.Timeout | undefined
  try {
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(
        () => reject(new CaseFailure([{ path: 'case', expected: `done within ${limit} s`, actual: 'still running' }])),
        limit * 1000,
      )
    })
    await Promise.race([new CaseRunner(test, parts).run(), late])
    return result('passed')
  } catch (error) {
    const unexpected = { path: 'runner', expected: 'no error', actual: error instanceof Error ? error.stack : error }
    return result('failed', error instanceof CaseFailure ? error.differences : [unexpected])
  } finally {
    clearTimeout(timer)
  }
}

async function whoAmI(client: HttpClient): Promise<unknown> {
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }
  const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews'
  return valueAt((await client.request({ method: 'POST', path, body })).body, 'status.userInfo')
}
