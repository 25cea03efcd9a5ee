import { encodeJson } from '@kubewright/api'
import { type ApiClient, NoMatchError } from '@kubewright/client'
import { clusterFlags, connectCluster } from '../cluster/connect-cluster.ts'
import type { Command, CommandContext } from '../command/command.ts'
import { crdsIn } from '../input/crds-in.ts'
import { readSoundManifests } from '../input/read-manifests.ts'
import { startOfflineServer } from '../offline/offline-server.ts'
import { parseFlags } from '../parse-flags.ts'
import { jsonText } from '../text/json-text.ts'
import { UsageError } from '../usage-error.ts'
import { explainField, fieldSchema } from './explain-field.ts'
import { findResource } from './find-resource.ts'

/** Tells what fields a kind has. */
export const explainCommand: Command = {
  name: 'explain',
  summary: 'Tell what fields a kind has, without a cluster',
  help: `Usage: kubewright explain KIND[.FIELD...] [OPTIONS]

Lists the fields of a kind, or tells of one of them, in the layout of kubectl
explain: deployments, deploy.spec.strategy, homes.ajd.example.com.spec. Knows
the kinds that every cluster has, with their types, and those of CRDs with their
texts; with --cluster it asks a cluster, which has the texts of all.

Options
  --crd FILE           CRDs to explain from, a file or folder; may be repeated
  --api-version GV     The version, such as apps/v1 (default: the preferred one)
  --recursive          List the fields of fields, without texts
  --cluster            Explain what a cluster has
  --kubeconfig FILE    The cluster's kubeconfig (default: as kubectl)
  --context NAME       The context in the kubeconfig
  --output json        Print the schema as JSON`,
  run: (args, context) => explain(args, context),
}

const flags = {
  ...clusterFlags,
  crd: { type: 'string', multiple: true },
  'api-version': { type: 'string' },
  recursive: { type: 'boolean', default: false },
  cluster: { type: 'boolean', default: false },
  output: { type: 'string', default: 'text' },
} as const

async function explain(args: readonly string[], context: CommandContext): Promise<number> {
  const { values, positionals } = parseFlags({ args: [...args], options: flags, allowPositionals: true })
  const [word, ...others] = positionals
  if (word === undefined || others.length > 0) throw new UsageError('name one kind, such as deployments.spec')
  if (values.output !== 'text' && values.output !== 'json')
    throw new UsageError(`--output must be text or json, not "${values.output}"`)
  if (values.cluster && values.crd !== undefined) throw new UsageError('--cluster and --crd exclude each other')
  const source = values.cluster
    ? await connectCluster(values, context).then((client) => ({ client, close: () => client[Symbol.asyncDispose]() }))
    : await offline(values.crd ?? [], context)
  try {
    const { resource, path } = await named(source.client, word, values['api-version'], values.cluster)
    const { group, version, kind } = resource
    const at = group === '' ? `api/${version}` : `apis/${group}/${version}`
    const document = await source.client.rest.json({ method: 'GET', path: `/openapi/v3/${at}`, signal: context.signal })
    const request = { group, version, kind, path, recursive: values.recursive }
    if (values.output === 'json') {
      const schema = fieldSchema(document, request)
      if (schema === undefined) throw new Error(`field "${path.at(-1)}" does not exist`)
      context.out(jsonText(schema, 2))
    } else context.out(explainField(document, request).replace(/\n$/, ''))
    return 0
  } finally {
    await source.close()
  }
}

/** Finds the resource, and names the cure where it may be in a CRD that was not given. */
async function named(
  client: ApiClient,
  word: string,
  apiVersion: string | undefined,
  live: boolean,
): ReturnType<typeof findResource> {
  try {
    return await findResource(client, word, apiVersion)
  } catch (error) {
    if (!(error instanceof NoMatchError) || live) throw error
    throw new Error(`${error.message}: give its definition with --crd, or ask a cluster with --cluster`, {
      cause: error,
    })
  }
}

async function offline(
  files: readonly string[],
  { clock }: CommandContext,
): Promise<{ readonly client: ApiClient; close(): PromiseLike<void> }> {
  const crds = crdsIn(await readSoundManifests(files))
  if (files.length > 0 && crds.length === 0) throw new Error(`There is no CRD in ${files.join(' ')}`)
  const server = await startOfflineServer(clock)
  const close = (): PromiseLike<void> => server[Symbol.asyncDispose]()
  try {
    const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
    for (const crd of crds) {
      const answer = await server.ask({ method: 'POST', path, body: encodeJson(crd) })
      const problem = answer.ok ? await server.served(crd.metadata.name) : answer.message
      if (problem !== undefined) throw new Error(problem)
    }
    return { client: server.client, close }
  } catch (error) {
    await close()
    throw error
  }
}
