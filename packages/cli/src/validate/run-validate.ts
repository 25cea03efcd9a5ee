import { KubewrightError, UsageError } from '@kubewright/base'
import type { CommandInput } from '../command/command.ts'
import { type CommandContext, folderOf } from '../command/command-context.ts'
import { releaseOf } from '../command/kubernetes-flag.ts'
import { noteInput, readManifests, readSoundManifests } from '../input/read-manifests.ts'
import { fitted, noTerminal } from '../terminal/terminal.ts'
import { jsonText } from '../text/json-text.ts'
import { oneLine } from '../text/one-line.ts'
import { plural } from '../text/plural.ts'
import { projectCrds } from './project-crds.ts'
import type { validateArguments, validateFlags } from './validate-command.ts'
import { type ManifestVerdict, validateManifests } from './validate-manifests.ts'

const modes = { strict: 'Strict', warn: 'Warn', ignore: 'Ignore' } as const

/** Validates manifests with an API server in this process. */
export async function runValidate(
  { flags, args: { files } }: CommandInput<typeof validateFlags, typeof validateArguments>,
  context: CommandContext,
): Promise<number> {
  const { crd, old, 'old-crd': oldCrd } = flags
  if (oldCrd.length > 0 && old.length === 0)
    throw new UsageError('--old-crd needs --old: give the state that was written under the old CRDs')
  await releaseOf(flags.kubernetes)
  noteInput(files, context.note)
  const documents = (await readManifests(files)).filter(({ value }) => !isKustomization(value))
  if (documents.length === 0) throw new KubewrightError('KW_MANIFEST', `There is no manifest in ${files.join(' ')}`)
  const given = crd.length === 0 ? [] : await readSoundManifests(crd)
  const present = [...(await projectCrds(folderOf(context), documents, given)), ...given]
  const verdicts = await validateManifests(documents, {
    clock: context.clock,
    fieldValidation: modes[flags.validate],
    namespace: flags.namespace,
    kubernetes: flags.kubernetes,
    present,
    ...(old.length === 0 ? {} : { old: await readSoundManifests(old) }),
    ...(oldCrd.length === 0 ? {} : { oldPresent: await readSoundManifests(oldCrd) }),
  })
  const invalid = verdicts.filter(({ valid }) => !valid).length
  if (flags.output === 'json') context.out(jsonText({ valid: invalid === 0, results: verdicts }, 2))
  else print(verdicts, invalid, flags['show-defaults'], context)
  return invalid === 0 ? 0 : 1
}

/** Whether a document configures kustomize, which API servers do not know. */
function isKustomization(value: unknown): boolean {
  const { apiVersion } = (value ?? {}) as { apiVersion?: unknown }
  return typeof apiVersion === 'string' && apiVersion.startsWith('kustomize.config.k8s.io/')
}

function print(
  verdicts: readonly ManifestVerdict[],
  invalid: number,
  showDefaults: boolean,
  { out, note, terminal = noTerminal }: CommandContext,
): void {
  const { paint } = terminal
  const printLine = (text: string): void => out(fitted(text, terminal))
  for (const verdict of verdicts) {
    const { file, line, valid, updated, problems, warnings, filled } = verdict
    printLine(
      `${file}:${line}: ${nameOf(verdict)}${valid ? paint('green', 'valid') : paint('red', 'invalid')}${updated ? ' (update)' : ''}`,
    )
    for (const { field, message } of problems)
      printLine(`  ${field === undefined ? '' : `${oneLine(field)}: `}${oneLine(message)}`)
    for (const warning of warnings) printLine(`  ${paint('yellow', 'Warning:')} ${oneLine(warning)}`)
    if (!showDefaults) continue
    for (const { path, value, before } of filled) {
      out(`  ${oneLine(path)}: ${jsonText(value)}${before === undefined ? '' : ` (was ${jsonText(before)})`}`)
    }
  }
  const count = plural(verdicts.length, 'object')
  note(invalid === 0 ? `${count} valid` : `${invalid} of ${count} invalid`)
}

function nameOf({ apiVersion, kind, namespace, name }: ManifestVerdict): string {
  if (kind === '') return ''
  const shown = namespace === undefined ? name : `${namespace}/${name}`
  return oneLine(`${kind}${shown === '' ? '' : ` ${shown}`} (${apiVersion}) is `)
}
