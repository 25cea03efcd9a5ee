import type { Command, CommandContext } from '../command/command.ts'
import { readManifests, readSoundManifests, tellInput } from '../input/read-manifests.ts'
import { parseFlags } from '../parse-flags.ts'
import { fitted, noTerminal } from '../terminal/terminal.ts'
import { jsonText } from '../text/json-text.ts'
import { plural } from '../text/plural.ts'
import { UsageError } from '../usage-error.ts'
import { type ManifestVerdict, validateManifests } from './validate-manifests.ts'

/** Checks manifests without a cluster. */
export const validateCommand: Command = {
  name: 'validate',
  summary: 'Check manifests as an API server would, without a cluster',
  help: `Usage: kubewright validate FILE... [OPTIONS]

Sends manifests to an API server inside of this process, which refuses what a
cluster would refuse, in the same words: unknown and repeated fields, wrong
types and values, CEL rules, names. FILE is a file or folder of YAML or JSON, or
- for the standard input. CRDs among them count for all of them.

Exits with 0 if all are valid, 1 if one is not, 2 if called wrongly.

Options
  --crd FILE           CRDs, and whatever else shall be there before, such as
                       namespaces and admission policies; may be repeated
  --old FILE           The state that the manifests update, for rules that
                       compare with oldSelf and for immutable fields
  --old-crd FILE       The CRDs that held when the old state was written, for
                       validation that lets old mistakes be
  --show-defaults      Also print what the server fills in
  --validate MODE      strict, warn or ignore unknown and repeated fields
                       (default strict)
  -n, --namespace NS   Namespace of objects that name none (default: default)
  --output json        Print the result as JSON`,
  run: (args, context) => validate(args, context),
}

const flags = {
  crd: { type: 'string', multiple: true },
  old: { type: 'string', multiple: true },
  'old-crd': { type: 'string', multiple: true },
  'show-defaults': { type: 'boolean', default: false },
  validate: { type: 'string', default: 'strict' },
  namespace: { type: 'string', short: 'n' },
  output: { type: 'string', default: 'text' },
} as const

const modes = { strict: 'Strict', warn: 'Warn', ignore: 'Ignore' } as const

async function validate(args: readonly string[], context: CommandContext): Promise<number> {
  const { values, positionals } = parseFlags({ args: [...args], options: flags, allowPositionals: true })
  if (positionals.length === 0) throw new UsageError('name the files to check, or - for the standard input')
  if (values.output !== 'text' && values.output !== 'json')
    throw new UsageError(`--output must be text or json, not "${values.output}"`)
  const fieldValidation = Object.hasOwn(modes, values.validate)
    ? modes[values.validate as keyof typeof modes]
    : undefined
  if (fieldValidation === undefined)
    throw new UsageError(`--validate must be strict, warn or ignore, not "${values.validate}"`)
  if (values['old-crd'] !== undefined && values.old === undefined)
    throw new UsageError('--old-crd says what held for --old, which is missing')
  tellInput(positionals, context.note)
  const documents = (await readManifests(positionals)).filter(({ value }) => !isKustomization(value))
  if (documents.length === 0) throw new Error(`There is no manifest in ${positionals.join(' ')}`)
  const verdicts = await validateManifests(documents, {
    clock: context.clock,
    fieldValidation,
    ...(values.namespace === undefined ? {} : { namespace: values.namespace }),
    ...(values.crd === undefined ? {} : { present: await readSoundManifests(values.crd) }),
    ...(values.old === undefined ? {} : { old: await readSoundManifests(values.old) }),
    ...(values['old-crd'] === undefined ? {} : { oldPresent: await readSoundManifests(values['old-crd']) }),
  })
  const invalid = verdicts.filter(({ valid }) => !valid).length
  if (values.output === 'json') context.out(jsonText({ valid: invalid === 0, results: verdicts }, 2))
  else tell(verdicts, invalid, values['show-defaults'], context)
  return invalid === 0 ? 0 : 1
}

/** Built by kustomize from other manifests, and never sent to a server. */
function isKustomization(value: unknown): boolean {
  const { apiVersion } = (value ?? {}) as { apiVersion?: unknown }
  return typeof apiVersion === 'string' && apiVersion.startsWith('kustomize.config.k8s.io/')
}

function tell(
  verdicts: readonly ManifestVerdict[],
  invalid: number,
  showDefaults: boolean,
  { out, note, terminal = noTerminal }: CommandContext,
): void {
  const { paint } = terminal
  const tellLine = (text: string): void => out(fitted(text, terminal))
  for (const verdict of verdicts) {
    const { file, line, valid, updated, problems, warnings, filled } = verdict
    tellLine(
      `${file}:${line}: ${nameOf(verdict)}${valid ? paint('green', 'valid') : paint('red', 'invalid')}${updated ? ' (update)' : ''}`,
    )
    for (const { field, message } of problems) tellLine(`  ${field === undefined ? '' : `${field}: `}${message}`)
    for (const warning of warnings) tellLine(`  ${paint('yellow', 'Warning:')} ${warning}`)
    if (!showDefaults) continue
    for (const { path, value, before } of filled) {
      out(`  ${path}: ${jsonText(value)}${before === undefined ? '' : ` (was ${jsonText(before)})`}`)
    }
  }
  const count = plural(verdicts.length, 'object')
  note(invalid === 0 ? `${count} valid` : `${invalid} of ${count} invalid`)
}

function nameOf({ apiVersion, kind, namespace, name }: ManifestVerdict): string {
  if (kind === '') return ''
  const shown = namespace === undefined ? name : `${namespace}/${name}`
  return `${kind}${shown === '' ? '' : ` ${shown}`} (${apiVersion}) is `
}
