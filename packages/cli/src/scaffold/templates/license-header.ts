import { type Project, rightsOf } from '../project.ts'

/** The header of source files: at most two lines, and empty without a license. */
export function licenseHeader(project: Project): string {
  const { license, owner } = rightsOf(project)
  if (license === 'none') return ''
  const copyright = owner === undefined ? '' : `// Copyright ${owner}\n`
  return `${copyright}// SPDX-License-Identifier: Apache-2.0\n\n`
}
