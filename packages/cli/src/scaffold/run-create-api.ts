import { guessPlural } from '@kubewright/api'
import { type FlagValues, UsageError } from '@kubewright/base'
import type { CommandInput } from '../command/command.ts'
import { type CommandContext, folderOf } from '../command/command-context.ts'
import { checkPlugin } from '../command/kubebuilder-flags.ts'
import { questionsFor } from '../terminal/questions.ts'
import { type ApiOptions, addApi } from './add-api.ts'
import { builtinKinds } from './builtin-kinds.ts'
import { checkKind, checkVersion, shortGroup } from './check-names.ts'
import type { createApiFlags } from './create-api-command.ts'
import { externalApi } from './foreign-resource.ts'
import { familiesOf, type KindFamily } from './kind-family.ts'
import type { DeployImageOptions, Project } from './project.ts'
import { requireProject } from './read-project.ts'
import { samplePath } from './templates/sample-file.ts'
import { writeScaffold } from './write-scaffold.ts'

type Flags = FlagValues<typeof createApiFlags>

/** Adds a kind, a version of a kind or a controller to a project. */
export async function runCreateApi(
  { flags }: CommandInput<typeof createApiFlags>,
  context: CommandContext,
): Promise<number> {
  const plugins = flags.plugins.flatMap((text) => text.split(','))
  for (const plugin of plugins) checkPlugin(plugin, flags.image !== undefined)
  const old = requireProject(folderOf(context))
  const options = await apiOptions(old, flags, context)
  const next = addApi(old, options, await builtinKinds())
  const family = familiesOf(next).find(({ kind, versions }) => {
    const [{ group }] = versions as [KindFamily['stored']]
    return kind === options.kind && (group ?? '') === (options.group ?? '')
  })!
  const { force, 'dry-run': dryRun, output } = flags
  const owned = new Set(ownFiles(family))
  const plan = writeScaffold({ old, next, force: (path) => force && owned.has(path), dryRun, output }, context)
  // A derived plural is a guess that users should see before the CRD is installed: it cannot change later.
  if (!family.isForeign && family.versions.length === 1 && flags.plural === undefined && output === 'text')
    context.note(`Plural: ${guessPlural(family.kind)}.${family.group} (--plural sets another one)`)
  if (dryRun) return 0
  if (plan.some(({ path, action }) => path === 'package.json' && action !== 'keep')) context.note('Next: npm install')
  else if (family.isForeign) context.note('Next: npm test')
  else if (family.versions.length > 1)
    context.note(
      `Next: change the fields of ${options.version} in ${family.stem}.ts, ${family.isConverted ? `convert them in ${family.stem}.conversion.ts, ` : ''}then npm test`,
    )
  else context.note(`Next: define the fields of ${family.kind} in ${family.stem}.ts, then npm test and npm run dev`)
  return 0
}

/** Completes the flags by asking the user. Checks given values before the first question. */
async function apiOptions(project: Project, flags: Flags, context: CommandContext): Promise<ApiOptions> {
  const { note, interaction } = context
  if (flags.group !== undefined) shortGroup(flags.group, project.domain)
  if (flags.version !== undefined) checkVersion(flags.version)
  if (flags.kind !== undefined) checkKind(flags.kind)
  const questions = questionsFor(interaction, flags.yes, note)
  const [known] = (project.resources ?? []).filter(({ api }) => api)
  const group =
    flags.group ??
    (await questions.text(
      `Group, the part before .${project.domain}${known?.group === undefined ? ' (may be empty)' : ''}`,
      known?.group ?? '',
      (answer) => shortGroup(answer, project.domain),
    ))
  const canSuggest = interaction !== undefined || flags.yes
  const version = flags.version ?? (canSuggest ? await questions.text('Version', 'v1', checkVersion) : undefined)
  const kind = flags.kind ?? (await questions.text('Kind, in CamelCase', undefined, checkKind))
  if (kind === undefined || version === undefined) {
    const missing = [kind === undefined && '--kind', version === undefined && '--version'].filter(Boolean)
    throw new UsageError(`${missing.join(' and ')} must be given`)
  }
  const isNew = !(project.resources ?? []).some((one) => one.kind === kind && one.group === group)
  const isOpen = flags.image === undefined && flags['external-api-path'] === undefined && isNew
  const confirm = async (question: string): Promise<boolean | undefined> =>
    isOpen && interaction !== undefined ? questions.confirm(question, true) : undefined
  return {
    group: group === '' ? undefined : group,
    version,
    kind,
    plural: flags.plural,
    namespaced: flags.namespaced,
    resource: flags.resource ?? (await confirm('Define the kind?')),
    controller: flags.controller ?? (await confirm('Create a controller?')),
    controllerName: flags['controller-name'],
    image: imageOf(flags),
    external: externalApi(flags, folderOf(context)),
    conversion: flags.conversion,
    force: flags.force,
  }
}

function imageOf(flags: Flags): DeployImageOptions | undefined {
  const { image, 'image-container-command': command, 'image-container-port': port, 'run-as-user': user } = flags
  if (image === undefined) {
    if (command ?? port ?? user)
      throw new UsageError(
        '--image is missing: --image-container-command, --image-container-port and --run-as-user need it',
      )
    return undefined
  }
  return {
    image,
    ...(command === undefined ? {} : { containerCommand: command }),
    ...(port === undefined ? {} : { containerPort: port }),
    ...(user === undefined ? {} : { runAsUser: user }),
  }
}

/** The files that belong to a kind and its controllers. */
function ownFiles({ stem, controllers, versions }: KindFamily): string[] {
  return [
    `${stem}.ts`,
    `${stem}.test.ts`,
    ...versions.map(samplePath),
    ...controllers.flatMap((one) => [`${one.stem}.controller.ts`, `${one.stem}.test.ts`]),
  ]
}
