import { basename } from 'node:path'
import type { CommandContext } from '../command/command.ts'
import { type Questions, questionsOf } from '../terminal/questions.ts'
import { UsageError } from '../usage-error.ts'
import { carryOut, readProject } from './carry-out.ts'
import { initProject, suggestName } from './init-project.ts'
import { kubewrightVersion } from './pinned-versions.ts'
import { commonFlags, type FlagValues, readFlags } from './read-flags.ts'
import type { ScaffoldHost } from './scaffold-host.ts'

/** The help of `init`. */
export const initHelp: string = `Usage: kubewright init [OPTIONS]

Makes a project for an operator in the current folder, and a PROJECT file that
remembers what was made. Asks for what is missing when there is a terminal.

Options
  --domain DOMAIN      What the groups of your kinds end with
                       (default my.domain)
  --project-name NAME  Name of the operator (default the folder's name)
  --repo REPO          Where the sources are, such as github.com/jane/homes:
                       for package.json
  --owner NAME         Who the copyright lines name
  --license WHICH      apache2 or none (default apache2)
  --multigroup         Keep kinds of several groups apart in folders
  --namespaced         Have the operator work in its own namespace only
  --fetch-deps         Run npm install at the end
  --replay             Write the files that PROJECT remembers: what is missing
                       is made, what you changed gets a FILE.new beside it
  --force              Replace files that are there
  --dry-run            Show what would be written as a diff, write nothing
  -y, --yes            Ask nothing: take the defaults
  --output json        List what was written for programs`

const initFlags = {
  ...commonFlags,
  domain: 'text',
  'project-name': 'text',
  repo: 'text',
  owner: 'text',
  license: 'text',
  multigroup: 'switch',
  namespaced: 'switch',
  'fetch-deps': 'switch',
  replay: 'switch',
} as const

/** Carries out `init`. */
export async function runInit(args: readonly string[], context: CommandContext, host: ScaffoldHost): Promise<number> {
  const flags = readFlags(args, initFlags)
  const known = readProject(host.folder)
  const { force = false, 'dry-run': dryRun, output } = flags
  const how = { old: undefined, force: () => force, dryRun, output }
  if (flags.replay) {
    if (!known) throw new UsageError('--replay needs a PROJECT file in this folder')
    carryOut({ ...how, next: { ...known, cliVersion: kubewrightVersion } }, host, context)
    return 0
  }
  if (known && !force) {
    throw new Error(
      `There is a project in this folder already, ${known.projectName}: change it with kubewright edit, or write its files again with --replay`,
    )
  }
  const questions = questionsOf(host, flags.yes, context.note)
  const next = initProject({ ...flags, ...(await namesFor(flags, questions, host)) })
  carryOut({ ...how, next }, host, context)
  if (dryRun) return 0
  const fetch =
    flags['fetch-deps'] ?? (host.isInteractive && !flags.yes && (await questions.confirm('Run npm install now?', true)))
  if (fetch) {
    const code = await host.run('npm', ['install'])
    if (code !== 0) throw new Error(`npm install failed with exit code ${code}: cure what it says and run it again`)
  }
  context.note(`Next:${fetch ? '' : ' npm install, then'} npx kubewright create api`)
  return 0
}

async function namesFor(
  flags: FlagValues<typeof initFlags>,
  questions: Questions,
  { folder }: ScaffoldHost,
): Promise<{ projectName: string; domain: string }> {
  const rest = { domain: 'my.domain', projectName: 'x' }
  const name = suggestName(basename(folder))
  const projectName =
    flags['project-name'] ??
    (await questions.text('Name of the project', name, (projectName) => initProject({ ...rest, projectName })))
  const domain =
    flags.domain ??
    (await questions.text('Domain that its groups end with', rest.domain, (domain) => initProject({ ...rest, domain })))
  // Both have suggestions, so that there is always an answer.
  return { projectName: projectName ?? name, domain: domain ?? rest.domain }
}
