import { readProject } from './carry-out.ts'
import type { Project } from './project.ts'

/** The project of a folder. Throws an error that says what to do when there is none. */
export function needProject(folder: string): Project {
  const project = readProject(folder)
  if (project) return project
  throw new Error('There is no PROJECT file in this folder: go to the project, or make one with kubewright init')
}
