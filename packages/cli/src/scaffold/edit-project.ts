import { checkLicense, checkOwner } from './init-project.ts'
import { layout, type Project, rightsOf } from './project.ts'

/** What `edit` was asked for; what is undefined stays. */
export interface EditOptions {
  readonly multigroup?: boolean | undefined
  readonly namespaced?: boolean | undefined
  readonly owner?: string | undefined
  readonly license?: string | undefined
}

/** The project with other settings. Throws an error for what cannot be. */
export function editProject(project: Project, options: EditOptions): Project {
  const { multigroup = project.multigroup, namespaced = project.namespaced } = options
  const rights = rightsOf(project)
  const license = options.license === undefined ? rights.license : checkLicense(options.license)
  checkOwner(options.owner)
  const owner = options.owner ?? rights.owner
  const groups = new Set((project.resources ?? []).filter(({ api }) => api).map(({ group = '' }) => group))
  if (!multigroup && groups.size > 1) {
    throw new Error(`--multigroup=false cannot be while there are kinds of several groups: ${[...groups].join(', ')}`)
  }
  const { multigroup: _, namespaced: __, ...rest } = project
  return {
    ...rest,
    ...(multigroup ? { multigroup } : {}),
    ...(namespaced ? { namespaced } : {}),
    plugins: {
      ...project.plugins,
      [layout]: { license, ...(owner === undefined || owner === '' ? {} : { owner }) },
    },
  }
}
