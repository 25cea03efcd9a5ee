import type { Command, CommandContext } from '../command/command.ts'
import { describeProject } from '../manifests/describe-project.ts'
import type { ManifestOptions } from '../manifests/manifest-options.ts'
import { splitEntry } from '../manifests/split-entry.ts'
import { readFlags } from '../scaffold/read-flags.ts'
import { ClusterSession, clusterFlags, clusterHelp } from './cluster-session.ts'
import { deployObjects } from './deploy-objects.ts'
import { deployedObjects } from './deployed-objects.ts'

const flags = { ...clusterFlags, image: 'text', namespace: 'text' } as const

/** Installs an operator and everything that it needs. */
export const deployCommand: Command = {
  name: 'deploy',
  summary: 'Run an operator in the current cluster, with all that it needs',
  help: `Usage: kubewright deploy [ENTRY] [OPTIONS]

Applies everything that the operator needs to the cluster of the current
kubeconfig: what kubewright generate writes, or, where you changed files in
config/, what kubectl kustomize config/default builds. Waits until CRDs are
served and the operator is available, and removes what an earlier deploy made
and nothing needs any more; CRDs that still have objects only after a question,
or with --yes. ENTRY is found as by kubewright run.

Options
  --image IMAGE      The image of the operator
  --namespace NAME   Where the operator runs (default <operator>-system)
${clusterHelp}`,
  run: deploy,
}

async function deploy(args: readonly string[], context: CommandContext): Promise<number> {
  const { given, rest } = splitEntry(args)
  const values = readFlags(rest, flags)
  const project = await describeProject(given, context)
  const { name } = project.operator
  const { chosen } = project.facts
  const options: ManifestOptions = {
    ...chosen,
    image: values.image ?? chosen.image,
    namespace: values.namespace ?? chosen.namespace,
  }
  const { objects, changed } = await deployedObjects(project, options)
  if (changed.length > 0) context.note(`Using config/default, as these files were changed: ${changed.join(', ')}`)
  return ClusterSession.work(values, context, (session) => deployObjects(session, name, objects))
}
