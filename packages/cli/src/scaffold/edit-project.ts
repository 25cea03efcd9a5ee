import { KubewrightError } from '@kubewright/base'
import { checkOwner } from './init-project.ts'
import { layout, type Project, rightsOf } from './project.ts'

/** The options of `edit`. Settings that are undefined stay. */
export interface EditOptions {
  readonly multigroup?: boolean | undefined
  readonly namespaced?: boolean | undefined
  readonly owner?: string | undefined
  readonly license?: 'apache2' | 'none' | undefined
}

/** Changes the settings of a project. Throws an error that names the fix if that is impossible. */
export function editProject(project: Project, options: EditOptions): Project {
  const { multigroup = project.multigroup, namespaced = project.namespaced } = options
  const rights = rightsOf(project)
  const license = options.license ?? rights.license
  checkOwner(options.owner)
  const owner = options.owner ?? rights.owner
  const groups = new Set((project.resources ?? []).filter(({ api }) => api).map(({ group = '' }) => group))
  if (!multigroup && groups.size > 1) {
    throw new KubewrightError(
      'KW_PROJECT',
      `--no-multigroup is impossible because the project has kinds of several groups: ${[...groups].join(', ')}`,
    )
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
