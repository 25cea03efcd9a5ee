import type { CommandContext } from '../command/command.ts'
import { questionsOf } from '../terminal/questions.ts'
import { UsageError } from '../usage-error.ts'
import { addWebhook, type WebhookChoice } from './add-webhook.ts'
import { builtinKinds } from './builtin-kinds.ts'
import { carryOut } from './carry-out.ts'
import { checkKind } from './check-names.ts'
import { familiesOf } from './kind-family.ts'
import { needProject } from './need-project.ts'
import type { Project } from './project.ts'
import { commonFlags, type FlagValues, readFlags } from './read-flags.ts'
import { externalFlags, externalOf } from './run-create-api.ts'
import type { ScaffoldHost } from './scaffold-host.ts'

/** The help of `create webhook`. */
export const createWebhookHelp: string = `Usage: kubewright create webhook [OPTIONS]

Makes webhooks for a kind, with tests, and registers them in src/operator.ts.
The kind is one of the project, or one of others. Asks for what is missing when
there is a terminal.

Options
  --kind KIND                Name of the kind (default the only one)
  --group GROUP              Needed when several groups have it
  --version VERSION          Needed when it has several
  --defaulting               Fill in what users leave out
  --defaulting-path PATH     Where (default /mutate-GROUP-VERSION-KIND)
  --programmatic-validation  Refuse what is wrong
  --validation-path PATH     Where (default /validate-GROUP-VERSION-KIND)
  --conversion               Convert between versions: this one is the hub, and
                             the one that objects are stored in
  --spoke LIST               Versions that are converted by way of it
                             (default all others)
  --force                    Write the files again, without your changes
  --dry-run                  Show what would be written as a diff, write nothing
  -y, --yes                  Ask nothing: take the defaults
  --output json              List what was written for programs

Kinds that others define; those of Kubernetes need --group and --version alone
  --external-api-path MODULE      File or package that exports the kind
  --external-api-domain DOMAIN    What their group ends with
  --external-api-module PACKAGE   npm package, as name@version
  --plural NAME                   Their plural

Examples
  kubewright create webhook --kind Home --defaulting --programmatic-validation
  kubewright create webhook --kind Home --version v1 --conversion --spoke v2
  kubewright create webhook --group core --version v1 --kind Pod --defaulting`

const createWebhookFlags = {
  ...commonFlags,
  ...externalFlags,
  group: 'text',
  version: 'text',
  kind: 'text',
  plural: 'text',
  defaulting: 'switch',
  'defaulting-path': 'text',
  'programmatic-validation': 'switch',
  'validation-path': 'text',
  conversion: 'switch',
  spoke: 'text',
} as const

type Flags = FlagValues<typeof createWebhookFlags>

/** Carries out `create webhook`. */
export async function runCreateWebhook(
  args: readonly string[],
  context: CommandContext,
  host: ScaffoldHost,
): Promise<number> {
  const flags = readFlags(args, createWebhookFlags)
  const old = needProject(host.folder)
  const choice = await complete(old, flags, context, host)
  const next = addWebhook(old, choice, await builtinKinds())
  const isIt = (resource: { readonly kind: string; readonly group?: string }): boolean =>
    resource.kind === choice.kind && (choice.group === undefined || resource.group === choice.group)
  const family = familiesOf(next).find(({ versions }) => isIt(versions[0]!))!
  const before = familiesOf(old).find(({ versions }) => isIt(versions[0]!))
  const again = [
    ...(choice.defaulting || choice.validation ? ['webhook', 'webhook.test'] : []),
    ...(choice.conversion ? ['conversion', 'conversion.test'] : []),
  ].map((part) => `${family.stem}.${part}.ts`)
  const { force = false, 'dry-run': dryRun, output } = flags
  carryOut({ old, next, force: (path) => force && again.includes(path), dryRun, output }, host, context)
  const { version } = family.stored
  if (before && before.stored.version !== version) {
    context.note(`${family.kind} is stored as ${version} from now on, which is what its controllers see`)
  }
  if (!dryRun) context.note('Next: npm test')
  return 0
}

async function complete(
  project: Project,
  flags: Flags,
  { note }: CommandContext,
  host: ScaffoldHost,
): Promise<WebhookChoice> {
  const questions = questionsOf(host, flags.yes, note)
  const own = familiesOf(project).filter(({ isForeign }) => !isForeign)
  const kind = flags.kind ?? (await questions.text('Kind', own.length === 1 ? own[0]!.kind : undefined, checkKind))
  if (kind === undefined) throw new UsageError('--kind must be given')
  let { defaulting, 'programmatic-validation': validation, conversion } = flags
  if (defaulting === undefined && validation === undefined && conversion === undefined && host.isInteractive) {
    const versions = own.find((family) => family.kind === kind)?.versions.length ?? 1
    defaulting = await questions.confirm('Fill in what users leave out?', true)
    validation = await questions.confirm('Refuse what is wrong?', true)
    conversion = versions > 1 && (await questions.confirm('Convert between versions?', false))
  }
  return {
    group: flags.group,
    version: flags.version,
    kind,
    plural: flags.plural,
    defaulting,
    defaultingPath: flags['defaulting-path'],
    validation,
    validationPath: flags['validation-path'],
    conversion,
    spoke: flags.spoke?.split(',').map((version) => version.trim()),
    external: externalOf(flags, host.folder),
    force: flags.force,
  }
}
