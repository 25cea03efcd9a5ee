import { KubewrightError, UsageError } from '@kubewright/base'
import { type CommandContext, folderOf } from '../command/command-context.ts'
import { errorLines } from '../entry/error-lines.ts'
import { findEntry } from '../entry/find-entry.ts'
import { loadOperator } from '../entry/load-operator.ts'
import { projectRuntime } from '../entry/project-runtime.ts'
import { describeOperator, type OperatorDescription } from './operator-description.ts'
import { type ProjectFacts, projectFacts } from './project-facts.ts'

/** An operator and its project. */
export interface DescribedProject {
  /** The folder of the project. */
  readonly folder: string
  readonly facts: ProjectFacts
  readonly operator: OperatorDescription
}

/** Loads the operator of a project, by default that of the current folder, and describes it. Errors of its code show their place in the source. */
export async function describeProject(
  given: string | undefined,
  context: Pick<CommandContext, 'clock' | 'folder'>,
): Promise<DescribedProject> {
  const entry = await findEntry(given, folderOf(context))
  const facts = await projectFacts(entry.project)
  try {
    const { operator } = await loadOperator(entry, context.clock)
    const runtime = await projectRuntime(entry.file)
    const { namespaced, externalGroups } = facts
    const described = describeOperator(operator, { namespaced, externalGroups, runtime })
    return { folder: entry.project, facts, operator: described }
  } catch (error) {
    if (error instanceof UsageError) throw error
    const [first = '', ...more] = errorLines(error, entry.project)
    throw new KubewrightError('KW_MANIFEST', [`${entry.name} cannot be loaded: ${first}`, ...more].join('\n'), {
      cause: error,
    })
  }
}
