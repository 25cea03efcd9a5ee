import { createRequire } from 'node:module'
import { join } from 'node:path'
import { errorText } from '@kubewright/base'
import type { ApiClient } from '@kubewright/client'
import { clusterFlags, connectCluster } from '../cluster/connect-cluster.ts'
import type { Command, CommandContext } from '../command/command.ts'
import { findEntry } from '../entry/find-entry.ts'
import type { OperatorDescription } from '../manifests/operator-description.ts'
import { parseFlags } from '../parse-flags.ts'
import { fitted, noTerminal } from '../terminal/terminal.ts'
import { UsageError } from '../usage-error.ts'
import { checkCluster, checkKubeconfig } from './check-cluster.ts'
import { checkDefinitions } from './check-definitions.ts'
import { checkNode } from './check-node.ts'
import { checkPermissions, type WantedAccess } from './check-permissions.ts'
import { checkWebhooks } from './check-webhooks.ts'
import type { Finding } from './finding.ts'

/** Looks for what keeps an operator from running. */
export const doctorCommand: Command = {
  name: 'doctor',
  summary: 'Find out what keeps an operator from running, and the cure',
  help: `Usage: kubewright doctor [ENTRY] [OPTIONS]

Checks, and names the cure of what is wrong:
  Node          its version, and what runs TypeScript
  Kubeconfig    that there is one that can be used
  Cluster       that its API server answers, and to whom
  Operator      that its code loads
  Definitions   that the CRDs of the operator are installed as in the code
  Permissions   that the user of the kubeconfig may do what the operator does
  Webhooks      that those who answer are there, with certificates that hold

ENTRY is the module of the operator or the folder of its project; see kubewright
run --help. Outside of a project, what is about the operator is not checked.

Exits with 0 if nothing failed, 1 if something did, 2 if called wrongly.

Options
  --kubeconfig FILE   The cluster's kubeconfig (default: as kubectl)
  --context NAME      The context in the kubeconfig
  --output json       Print the findings as JSON`,
  run: (args, context) => doctor(args, context),
}

const flags = { ...clusterFlags, output: { type: 'string', default: 'text' } } as const

async function doctor(args: readonly string[], context: CommandContext): Promise<number> {
  const { values, positionals } = parseFlags({ args: [...args], options: flags, allowPositionals: true })
  if (values.output !== 'text' && values.output !== 'json')
    throw new UsageError(`--output must be text or json, not "${values.output}"`)
  if (positionals.length > 1) throw new UsageError('name one module or folder')
  const findings: Finding[] = []
  const tell = (more: readonly Finding[]): void => {
    findings.push(...more)
    if (values.output === 'text') for (const finding of more) print(finding, context)
  }
  tell(checkNode(process.version, hasTsx()))
  const operator = await loadedOperator(positionals[0], context, tell)
  const { client, findings: found } = await checkKubeconfig(() => connectCluster(values, context))
  tell(found)
  if (client !== undefined) {
    try {
      await checkWith(client, operator, context, tell)
    } finally {
      await client[Symbol.asyncDispose]()
    }
  }
  const failed = findings.filter(({ level }) => level === 'failed').length
  if (values.output === 'json') context.out(JSON.stringify({ healthy: failed === 0, findings }, null, 2))
  else context.note(failed === 0 ? 'Nothing is in the way' : `${failed} failed`)
  return failed === 0 ? 0 : 1
}

function hasTsx(): boolean {
  try {
    createRequire(join(process.cwd(), 'package.json')).resolve('tsx')
    return true
  } catch {
    return false
  }
}

async function loadedOperator(
  given: string | undefined,
  context: CommandContext,
  tell: (findings: readonly Finding[]) => void,
): Promise<OperatorDescription | undefined> {
  const check = 'Operator'
  try {
    await findEntry(given, process.cwd())
  } catch (error) {
    if (!(error instanceof UsageError) || given !== undefined) throw error
    tell([{ check, level: 'skipped', message: 'this folder has none', cure: 'kubewright init starts one' }])
    return undefined
  }
  try {
    const { describeProject } = await import('../manifests/describe-project.ts')
    const { operator } = await describeProject(given, context)
    tell([{ check, level: 'ok', message: `${operator.name} loads` }])
    return operator
  } catch (error) {
    const message = errorText(error)
    tell([{ check, level: 'failed', message, cure: 'correct the code; npx tsc --noEmit may tell more' }])
    return undefined
  }
}

async function checkWith(
  client: ApiClient,
  operator: OperatorDescription | undefined,
  { clock, signal }: CommandContext,
  tell: (findings: readonly Finding[]) => void,
): Promise<void> {
  const reached = await checkCluster(client, signal)
  tell(reached)
  if (reached.some(({ level }) => level === 'failed')) return
  const crds = operator?.resources.map(({ crd }) => crd) ?? []
  if (operator !== undefined) {
    tell(await checkDefinitions(client, crds, signal))
    tell(
      await checkPermissions(
        client,
        accessOf(operator, client.namespace),
        {
          check: 'Permissions',
          level: 'failed',
          purpose: operator.name,
          cure: 'have the roles of config/rbac granted to the user of the kubeconfig, or use kubewright deploy',
        },
        signal,
      ),
    )
  }
  tell(
    await checkPermissions(
      client,
      [{ rules: [installRule] }],
      {
        check: 'Permissions',
        level: 'warning',
        purpose: 'kubewright install',
        cure: 'ask somebody who administers the cluster to install the CRDs',
      },
      signal,
    ),
  )
  tell(await checkWebhooks(client, clock, signal))
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

function print({ check, level, message, cure }: Finding, { out, terminal = noTerminal }: CommandContext): void {
  const { paint } = terminal
  const [first = '', ...more] = message.split('\n').filter((line) => line.trim() !== '')
  const shown = paint(colors[level], level) + ' '.repeat(8 - level.length)
  out(fitted(`${shown} ${check.padEnd(12)} ${first}`, terminal, margin))
  for (const line of more) out(fitted(`${' '.repeat(margin)}${line}`, terminal, margin))
  if (cure !== undefined && level !== 'ok') out(fitted(`${' '.repeat(margin)}→ ${cure}`, terminal, margin + 2))
}
