import { type FlagValues, UsageError } from '@kubewright/base'
import type { CommandInput } from '../command/command.ts'
import { type CommandContext, folderOf } from '../command/command-context.ts'
import { questionsFor } from '../terminal/questions.ts'
import { addWebhook, type WebhookOptions } from './add-webhook.ts'
import { builtinKinds } from './builtin-kinds.ts'
import { checkKind } from './check-names.ts'
import type { createWebhookFlags } from './create-webhook-command.ts'
import { externalApi } from './foreign-resource.ts'
import { familiesOf } from './kind-family.ts'
import type { Project } from './project.ts'
import { requireProject } from './read-project.ts'
import { writeScaffold } from './write-scaffold.ts'

/** Adds webhooks or a conversion for a kind to a project. */
export async function runCreateWebhook(
  { flags }: CommandInput<typeof createWebhookFlags>,
  context: CommandContext,
): Promise<number> {
  const old = requireProject(folderOf(context))
  const options = await webhookOptions(old, flags, context)
  const next = addWebhook(old, options, await builtinKinds())
  const isMeant = (resource: { readonly kind: string; readonly group?: string | undefined }): boolean =>
    resource.kind === options.kind && (options.group === undefined || resource.group === options.group)
  const family = familiesOf(next).find(({ versions }) => isMeant(versions[0]!))!
  const before = familiesOf(old).find(({ versions }) => isMeant(versions[0]!))
  const reviewing = family.webhooks.find(({ version }) => version === options.version) ?? family.webhooks[0]
  const owned = [
    ...(options.defaulting || options.validation ? ['webhook', 'webhook.test'] : []).map(
      (part) => `${reviewing?.stem}.${part}.ts`,
    ),
    ...(options.conversion ? ['conversion', 'conversion.test'] : []).map((part) => `${family.stem}.${part}.ts`),
  ]
  const { force, 'dry-run': dryRun, output } = flags
  writeScaffold({ old, next, force: (path) => force && owned.includes(path), dryRun, output }, context)
  const { version } = family.stored
  if (before && before.stored.version !== version) {
    context.note(
      `${version} is now the storage version of ${family.kind}, and the version that its controllers receive`,
    )
  }
  if (!dryRun) context.note('Next: npm test')
  return 0
}

/** Completes the flags by asking the user. */
async function webhookOptions(
  project: Project,
  flags: FlagValues<typeof createWebhookFlags>,
  context: CommandContext,
): Promise<WebhookOptions> {
  const { note, interaction } = context
  const questions = questionsFor(interaction, flags.yes, note)
  const own = familiesOf(project).filter(({ isForeign }) => !isForeign)
  const kind = flags.kind ?? (await questions.text('Kind', own.length === 1 ? own[0]!.kind : undefined, checkKind))
  if (kind === undefined) throw new UsageError('--kind must be given')
  let { defaulting, 'programmatic-validation': validation, conversion } = flags
  if (defaulting === undefined && validation === undefined && conversion === undefined && interaction !== undefined) {
    const versions = own.find((family) => family.kind === kind)?.versions.length ?? 1
    defaulting = await questions.confirm('Set defaults?', true)
    validation = await questions.confirm('Validate objects?', true)
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
    spoke: flags.spoke,
    external: externalApi(flags, folderOf(context)),
    force: flags.force,
  }
}
