import { encodeJson } from '@kubewright/api'
import { KubewrightError, UsageError } from '@kubewright/base'
import { type ApiClient, NoMatchError } from '@kubewright/client'
import { connectCluster } from '../cluster/connect-cluster.ts'
import type { CommandInput } from '../command/command.ts'
import type { CommandContext } from '../command/command-context.ts'
import { releaseOf } from '../command/kubernetes-flag.ts'
import { crdsIn } from '../input/crds-in.ts'
import { readSoundManifests } from '../input/read-manifests.ts'
import { startOfflineServer } from '../offline/offline-server.ts'
import { jsonText } from '../text/json-text.ts'
import type { explainArguments, explainFlags } from './explain-command.ts'
import { explainField, fieldSchema } from './explain-field.ts'
import { findResource } from './find-resource.ts'

/** Describes a kind or a field from the OpenAPI document of an API server in this process, or of a cluster. */
export async function runExplain(
  { flags, args }: CommandInput<typeof explainFlags, typeof explainArguments>,
  context: CommandContext,
): Promise<number> {
  if (flags.cluster && flags.crd.length > 0)
    throw new UsageError('--cluster and --crd exclude each other: give one of them')
  if (flags.cluster && flags.kubernetes !== undefined)
    throw new UsageError('--cluster and --kubernetes exclude each other: a cluster has one release')
  await releaseOf(flags.kubernetes)
  const source = flags.cluster
    ? await connectCluster(flags, context).then((client) => ({ client, close: () => client[Symbol.asyncDispose]() }))
    : await offline(flags.crd, context, flags.kubernetes)
  try {
    const { resource, path } = await named(source.client, args.path, flags['api-version'], flags.cluster)
    const { group, version, kind } = resource
    const at = group === '' ? `api/${version}` : `apis/${group}/${version}`
    const document = await source.client.rest.json({ method: 'GET', path: `/openapi/v3/${at}`, signal: context.signal })
    const request = { group, version, kind, path, recursive: flags.recursive }
    if (flags.output === 'json') {
      const schema = fieldSchema(document, request)
      if (schema === undefined) throw new KubewrightError('KW_COMMAND', `field "${path.at(-1)}" does not exist`)
      context.out(jsonText(schema, 2))
    } else context.out(explainField(document, request).replace(/\n$/, ''))
    return 0
  } finally {
    await source.close()
  }
}

/** Finds the resource. If it is unknown offline, the error names the flags that supply its CRD. */
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
    throw new KubewrightError(
      'KW_COMMAND',
      `${error.message}: give its CRD with --crd, or use the CRD of a cluster with --cluster`,
      {
        cause: error,
      },
    )
  }
}

async function offline(
  files: readonly string[],
  { clock }: CommandContext,
  kubernetes: string | undefined,
): Promise<{ readonly client: ApiClient; close(): PromiseLike<void> }> {
  const crds = crdsIn(await readSoundManifests(files))
  if (files.length > 0 && crds.length === 0)
    throw new KubewrightError('KW_COMMAND', `There is no CRD in ${files.join(' ')}`)
  const server = await startOfflineServer(clock, kubernetes)
  const close = (): PromiseLike<void> => server[Symbol.asyncDispose]()
  try {
    const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
    for (const crd of crds) {
      const response = await server.send({ method: 'POST', path, body: encodeJson(crd) })
      const problem = response.ok ? await server.served(crd.metadata.name) : response.message
      if (problem !== undefined) throw new KubewrightError('KW_COMMAND', problem)
    }
    return { client: server.client, close }
  } catch (error) {
    await close()
    throw error
  }
}
