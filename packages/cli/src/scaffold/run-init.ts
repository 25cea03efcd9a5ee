import { basename } from 'node:path'
import { type FlagValues, KubewrightError, UsageError } from '@kubewright/base'
import type { CommandInput } from '../command/command.ts'
import { type CommandContext, folderOf } from '../command/command-context.ts'
import { type Questions, questionsFor } from '../terminal/questions.ts'
import { runProgram } from '../terminal/run-program.ts'
import type { initFlags } from './init-command.ts'
import { initProject, suggestName } from './init-project.ts'
import { kubewrightVersion } from './pinned-versions.ts'
import { readProject } from './read-project.ts'
import { writeScaffold } from './write-scaffold.ts'

/** Creates a project in the folder of the context, or writes the files of an existing one again. */
export async function runInit({ flags }: CommandInput<typeof initFlags>, context: CommandContext): Promise<number> {
  const folder = folderOf(context)
  const known = readProject(folder)
  const { force, 'dry-run': dryRun, output } = flags
  const how = { old: undefined, force: () => force, dryRun, output }
  if (flags.replay) {
    if (!known) throw new UsageError('--replay needs a PROJECT file in this folder: go to the folder of the project')
    writeScaffold({ ...how, next: { ...known, cliVersion: kubewrightVersion } }, context)
    return 0
  }
  if (known && !force) {
    throw new KubewrightError(
      'KW_PROJECT',
      `The folder already has a project, ${known.projectName}: change it with kubewright edit, or write its files again with --replay`,
    )
  }
  const questions = questionsFor(context.interaction, flags.yes, context.note)
  const next = initProject({ ...flags, ...(await askNames(flags, questions, folder)) })
  writeScaffold({ ...how, next }, context)
  if (dryRun) return 0
  const fetch = flags['fetch-deps'] ?? (questions.isAsking && (await questions.confirm('Run npm install now?', true)))
  if (fetch) {
    const run = context.runProgram ?? ((program, args) => runProgram(folder, program, args))
    const code = await run('npm', ['install'])
    if (code !== 0)
      throw new KubewrightError(
        'KW_PROJECT',
        `npm install failed with exit code ${code}: fix the cause and run it again`,
      )
  }
  context.note(`Next:${fetch ? '' : ' npm install, then'} npx kubewright create api`)
  return 0
}

async function askNames(
  flags: FlagValues<typeof initFlags>,
  questions: Questions,
  folder: string,
): Promise<{ projectName: string; domain: string }> {
  const valid = { domain: 'my.domain', projectName: 'x' }
  const name = suggestName(basename(folder))
  const projectName =
    flags['project-name'] ??
    (await questions.text('Name of the project', name, (projectName) => initProject({ ...valid, projectName })))
  const domain =
    flags.domain ??
    (await questions.text('Domain of its API groups', valid.domain, (domain) => initProject({ ...valid, domain })))
  // Both questions have suggestions, so there is always an answer.
  return { projectName: projectName ?? name, domain: domain ?? valid.domain }
}
