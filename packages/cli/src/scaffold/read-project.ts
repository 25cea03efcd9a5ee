import { join } from 'node:path'
import { KubewrightError } from '@kubewright/base'
import { readText } from '../text/read-text.ts'
import { type Project, parseProject } from './project.ts'

/** Reads the PROJECT file of a folder; undefined if there is none. */
export function readProject(folder: string): Project | undefined {
  const text = readText(join(folder, 'PROJECT'))
  return text === undefined ? undefined : parseProject(text)
}

/** Reads the PROJECT file of a folder. Throws if there is none. */
export function requireProject(folder: string): Project {
  const project = readProject(folder)
  if (project) return project
  throw new KubewrightError(
    'KW_PROJECT',
    `There is no PROJECT file in ${folder}: go to the folder of the project, or run kubewright init`,
  )
}
