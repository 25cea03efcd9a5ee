import { createRequire } from 'node:module'
import { join } from 'node:path'
import { errorText, UsageError } from '@kubewright/base'
import type { ApiClient } from '@kubewright/client'
import { connectCluster } from '../cluster/connect-cluster.ts'
import type { CommandInput } from '../command/command.ts'
import { type CommandContext, folderOf } from '../command/command-context.ts'
import type { entryArgument } from '../entry/entry-argument.ts'
import { findEntry } from '../entry/find-entry.ts'
import type { OperatorDescription } from '../manifests/operator-description.ts'
import { fitted, noTerminal } from '../terminal/terminal.ts'
import { checkCluster, checkKubeconfig } from './check-cluster.ts'
import { checkDefinitions } from './check-definitions.ts'
import { checkNode } from './check-node.ts'
import { checkPermissions, type WantedAccess } from './check-permissions.ts'
import { checkWebhooks } from './check-webhooks.ts'
import type { doctorFlags } from './doctor-command.ts'
import type { Finding } from './finding.ts'

/** Runs all checks and prints their findings. */
export async function runDoctor(
  { flags, args }: CommandInput<typeof doctorFlags, typeof entryArgument>,
  context: CommandContext,
): Promise<number> {
  const findings: Finding[] = []
  const report = (more: readonly Finding[]): void => {
    findings.push(...more)
    if (flags.output === 'text') for (const finding of more) print(finding, context)
  }
  report(checkNode(process.version, hasTsx(folderOf(context))))
  const operator = await loadedOperator(args.entry, context, report)
  const named = Boolean(flags.kubeconfig ?? flags.context ?? context.env['KUBECONFIG'])
  const { client, findings: found } = await checkKubeconfig(() => connectCluster(flags, context), named)
  report(found)
  if (client !== undefined) {
    try {
      await checkWith(client, operator, context, report)
    } finally {
      await client[Symbol.asyncDispose]()
    }
  }
  const failed = findings.filter(({ level }) => level === 'failed').length
  const skipped = findings.some(({ level }) => level === 'skipped')
  if (flags.output === 'json') context.out(JSON.stringify({ healthy: failed === 0, findings }, null, 2))
  else
    context.note(failed > 0 ? `${failed} failed` : skipped ? 'No check failed; some were skipped' : 'All checks passed')
  return failed === 0 ? 0 : 1
}

function hasTsx(folder: string): boolean {
  try {
    createRequire(join(folder, 'package.json')).resolve('tsx')
    return true
  } catch {
    return false
  }
}

async function loadedOperator(
  given: string | undefined,
  context: CommandContext,
  report: (findings: readonly Finding[]) => void,
): Promise<OperatorDescription | undefined> {
  const check = 'Operator'
  try {
    await findEntry(given, folderOf(context))
  } catch (error) {
    if (!(error instanceof UsageError) || given !== undefined) throw error
    report([
      { check, level: 'skipped', message: 'this folder has no operator', fix: 'create one with kubewright init' },
    ])
    return undefined
  }
  try {
    const { describeProject } = await import('../manifests/describe-project.ts')
    const { operator } = await describeProject(given, context)
    report([{ check, level: 'ok', message: `${operator.name} loads` }])
    return operator
  } catch (error) {
    const message = errorText(error)
    report([{ check, level: 'failed', message, fix: 'fix the code; npx tsc --noEmit may show more' }])
    return undefined
  }
}

async function checkWith(
  client: ApiClient,
  operator: OperatorDescription | undefined,
  { clock, signal }: CommandContext,
  report: (findings: readonly Finding[]) => void,
): Promise<void> {
  const reached = await checkCluster(client, signal)
  report(reached)
  if (reached.some(({ level }) => level === 'failed')) return
  const crds = operator?.resources.map(({ crd }) => crd) ?? []
  if (operator !== undefined) {
    report(await checkDefinitions(client, crds, signal))
    report(
      await checkPermissions(
        client,
        accessOf(operator, client.namespace),
        {
          check: 'Permissions',
          level: 'failed',
          purpose: operator.name,
          fix: 'grant the roles of config/rbac to the user of the kubeconfig, or use kubewright deploy',
        },
        signal,
      ),
    )
  }
  report(
    await checkPermissions(
      client,
      [{ rules: [installRule] }],
      {
        check: 'Permissions',
        level: 'warning',
        purpose: 'kubewright install',
        fix: 'ask an administrator of the cluster to install the CRDs',
      },
      signal,
    ),
  )
  report(await checkWebhooks(client, clock, signal))
}

const installRule = {
  apiGroups: ['apiextensions.k8s.io'],
  resources: ['customresourcedefinitions'],
  verbs: ['get', 'create', 'patch', 'delete'],
}

function accessOf({ access, namespaces }: OperatorDescription, own: string): WantedAccess[] {
  const watched = namespaces.length === 0 ? [undefined] : namespaces.map((name) => (name === '' ? own : name))
  return [
    { rules: access.cluster },
    ...watched.map((namespace) => ({ rules: access.watched, ...(namespace === undefined ? {} : { namespace }) })),
    { rules: access.own, namespace: own },
    ...Object.entries(access.elsewhere).map(([namespace, rules]) => ({ rules, namespace })),
  ]
}

const colors = { ok: 'green', warning: 'yellow', failed: 'red', skipped: 'grey' } as const
const margin = 22

function print({ check, level, message, fix }: Finding, { out, terminal = noTerminal }: CommandContext): void {
  const { paint } = terminal
  const [first = '', ...more] = message.split('\n').filter((line) => line.trim() !== '')
  const shown = paint(colors[level], level) + ' '.repeat(8 - level.length)
  out(fitted(`${shown} ${check.padEnd(12)} ${first}`, terminal, margin))
  for (const line of more) out(fitted(`${' '.repeat(margin)}${line}`, terminal, margin))
  if (fix !== undefined && level !== 'ok') out(fitted(`${' '.repeat(margin)}→ ${fix}`, terminal, margin + 2))
}
