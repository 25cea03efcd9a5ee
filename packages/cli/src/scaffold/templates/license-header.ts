import { type Project, rightsOf } from '../project.ts'

/** What source files of a project begin with: two lines at most, and none without a license. */
export function licenseHeader(project: Project): string {
  const { license, owner } = rightsOf(project)
  if (license === 'none') return ''
  const copyright = owner === undefined ? '' : `// Copyright ${owner}\n`
  return `${copyright}// SPDX-License-Identifier: Apache-2.0\n\n`
}
