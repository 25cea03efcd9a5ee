const component = '(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])'
const host = `(?:${component}(?:\\.${component})*|\\[[a-fA-F0-9:]+\\])(?::[0-9]+)?`
const segment = '[a-z0-9]+(?:(?:[._]|__|[-]+)[a-z0-9]+)*'
const tag = '[\\w][\\w.-]{0,127}'
const digest = '[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}'
const reference = new RegExp(`^(?:${host}/)?${segment}(?:/${segment})*(?::(${tag}))?(?:@(${digest}))?$`)
/** A reference with a longer path is invalid. */
const maxPath = 255
const identifier = /^[a-f0-9]{64}$/

/** The tag of an image reference: `latest` without tag and digest, empty with only a digest or if the reference is invalid. */
export function imageTag(image: string): string {
  if (identifier.test(image)) return ''
  const match = reference.exec(image)
  if (!match || pathLength(image.slice(0, image.length - suffixLength(match))) > maxPath) return ''
  return match[1] ?? (match[2] === undefined ? 'latest' : '')
}

/** The length of tag and digest, with their separators. */
function suffixLength([, tag, digest]: RegExpExecArray): number {
  return (tag === undefined ? 0 : tag.length + 1) + (digest === undefined ? 0 : digest.length + 1)
}

/** The length of the repository path without the host. Official images are in the folder `library`. */
function pathLength(name: string): number {
  const slash = name.indexOf('/')
  const hasHost = slash > 0 && (/[.:]/.test(name.slice(0, slash)) || name.startsWith('localhost/'))
  if (hasHost) return name.length - slash - 1
  return name.length + (slash < 0 ? 'library/'.length : 0)
}
