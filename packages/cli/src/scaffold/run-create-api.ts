import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { CommandContext } from '../command/command.ts'
import { questionsOf } from '../terminal/questions.ts'
import { UsageError } from '../usage-error.ts'
import { type ApiOptions, addApi } from './add-api.ts'
import { builtinKinds } from './builtin-kinds.ts'
import { carryOut } from './carry-out.ts'
import { checkKind, checkVersion, shortGroup } from './check-names.ts'
import type { ExternalApi } from './foreign-resource.ts'
import { familiesOf, type KindFamily } from './kind-family.ts'
import { withArticle } from './kind-names.ts'
import { needProject } from './need-project.ts'
import type { DeployImageOptions, Project } from './project.ts'
import { commonFlags, type FlagValues, readFlags } from './read-flags.ts'
import type { ScaffoldHost } from './scaffold-host.ts'
import { samplePath } from './templates/sample-file.ts'

/** The help of `create api`. */
export const createApiHelp: string = `Usage: kubewright create api [OPTIONS]

Makes a kind and its controller, with a test and a sample, and registers them in
src/operator.ts. A kind that exists gets a further version. Asks for what is
missing when there is a terminal.

Options
  --group GROUP            The part of the API group before the domain (default
                           that of the other kinds)
  --version VERSION        v1, v1alpha1, v2beta1 and the like
  --kind KIND              Name of the kind in CamelCase
  --plural NAME            Its plural (default a guess)
  --namespaced[=false]     Whether its objects are in namespaces (default true)
  --resource[=false]       Whether to define the kind (default true); false is
                           for controllers of kinds that are there, such as
                           --group apps --version v1 --kind Deployment
  --controller[=false]     Whether to make a controller (default true, but for a
                           further version)
  --controller-name NAME   Name of the controller; needed for a second one
  --force                  Write files of the kind again, without your changes
  --dry-run                Show what would be written as a diff, write nothing
  -y, --yes                Ask nothing: take the defaults
  --output json            List what was written for programs

A ready operator that runs a container image
  --image IMAGE                   Run this image in a Deployment
  --image-container-command LIST  Command of the container, with commas
  --image-container-port PORT     Port at which it listens
  --run-as-user NUMBER            User that it runs as

Kinds that others define
  --external-api-path MODULE      File or package that exports the kind, such as
                                  one that kubewright import wrote
  --external-api-domain DOMAIN    What their group ends with
  --external-api-module PACKAGE   npm package, as name@version

Examples
  kubewright create api --group ajd --version v1 --kind Home
  kubewright create api --group cache --version v1 --kind Memcached \\
    --image memcached:1.6 --image-container-port 11211 --run-as-user 1001
  kubewright create api --group apps --version v1 --kind Deployment \\
    --resource=false`

/** Flags that name a kind of others. */
export const externalFlags: {
  readonly 'external-api-path': 'text'
  readonly 'external-api-domain': 'text'
  readonly 'external-api-module': 'text'
} = { 'external-api-path': 'text', 'external-api-domain': 'text', 'external-api-module': 'text' }

const createApiFlags = {
  ...commonFlags,
  ...externalFlags,
  group: 'text',
  version: 'text',
  kind: 'text',
  plural: 'text',
  namespaced: 'switch',
  resource: 'switch',
  controller: 'switch',
  'controller-name': 'text',
  image: 'text',
  'image-container-command': 'text',
  'image-container-port': 'text',
  'run-as-user': 'text',
} as const

type Flags = FlagValues<typeof createApiFlags>

/** Carries out `create api`. */
export async function runCreateApi(
  args: readonly string[],
  context: CommandContext,
  host: ScaffoldHost,
): Promise<number> {
  const flags = readFlags(args, createApiFlags)
  const old = needProject(host.folder)
  const options = await complete(old, flags, context, host)
  const next = addApi(old, options, await builtinKinds())
  const family = familiesOf(next).find(({ kind, versions }) => {
    const [{ group }] = versions as [KindFamily['stored']]
    return kind === options.kind && (group ?? '') === (options.group ?? '')
  })!
  const { force = false, 'dry-run': dryRun, output } = flags
  const owned = new Set(ownFiles(family))
  const plan = carryOut({ old, next, force: (path) => force && owned.has(path), dryRun, output }, host, context)
  if (dryRun) return 0
  if (plan.some(({ path, action }) => path === 'package.json' && action !== 'keep')) context.note('Next: npm install')
  else if (family.isForeign) context.note('Next: npm test')
  else context.note(`Next: say in ${family.stem}.ts what ${withArticle(family.kind)} is, then npm test and npm run dev`)
  return 0
}

async function complete(
  project: Project,
  flags: Flags,
  { note }: CommandContext,
  host: ScaffoldHost,
): Promise<ApiOptions> {
  // What is wrong anyway is said before anything is asked.
  if (flags.group !== undefined) shortGroup(flags.group, project.domain)
  if (flags.version !== undefined) checkVersion(flags.version)
  if (flags.kind !== undefined) checkKind(flags.kind)
  const questions = questionsOf(host, flags.yes, note)
  const [known] = (project.resources ?? []).filter(({ api }) => api)
  const group =
    flags.group ??
    (await questions.text(
      `Group, the part before .${project.domain}${known?.group === undefined ? ' (may be empty)' : ''}`,
      known?.group ?? '',
      (answer) => shortGroup(answer, project.domain),
    ))
  const isAsked = host.isInteractive || flags.yes === true
  const version = flags.version ?? (isAsked ? await questions.text('Version', 'v1', checkVersion) : undefined)
  const kind = flags.kind ?? (await questions.text('Kind, in CamelCase', undefined, checkKind))
  const missing = [kind === undefined && '--kind', version === undefined && '--version'].filter(Boolean)
  if (kind === undefined || version === undefined) throw new UsageError(`${missing.join(' and ')} must be given`)
  const isNew = !(project.resources ?? []).some((one) => one.kind === kind && one.group === group)
  const isOpen = flags.image === undefined && flags['external-api-path'] === undefined && isNew
  const resource =
    flags.resource ?? (isOpen && host.isInteractive ? await questions.confirm('Define the kind?', true) : undefined)
  const controller =
    flags.controller ?? (isOpen && host.isInteractive ? await questions.confirm('Make a controller?', true) : undefined)
  return {
    group: group === '' ? undefined : group,
    version,
    kind,
    plural: flags.plural,
    namespaced: flags.namespaced,
    resource,
    controller,
    controllerName: flags['controller-name'],
    image: imageOf(flags),
    external: externalOf(flags, host.folder),
    force: flags.force,
  }
}

function imageOf(flags: Flags): DeployImageOptions | undefined {
  const { image, 'image-container-command': command, 'image-container-port': port, 'run-as-user': user } = flags
  if (image === undefined) {
    if (command ?? port ?? user) throw new UsageError('--image must be given with the flags about its containers')
    return undefined
  }
  return {
    image,
    ...(command === undefined ? {} : { containerCommand: command }),
    ...(port === undefined ? {} : { containerPort: port }),
    ...(user === undefined ? {} : { runAsUser: user }),
  }
}

/** What the flags say about a kind of others. Files of the project must be there. */
export function externalOf(flags: FlagValues<typeof externalFlags>, folder: string): ExternalApi | undefined {
  const { 'external-api-path': path, 'external-api-domain': domain, 'external-api-module': module } = flags
  if (path !== undefined) {
    if (/\.[cm]?[jt]s$/.test(path) && !existsSync(join(folder, path))) {
      throw new UsageError(
        `--external-api-path names ${path}, which does not exist: kubewright import writes such files`,
      )
    }
    return { path, domain, module }
  }
  if (domain ?? module) throw new UsageError('--external-api-path must be given with the flags about kinds of others')
  return undefined
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
