const component = '(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])'
const host = `(?:${component}(?:\\.${component})*|\\[[a-fA-F0-9:]+\\])(?::[0-9]+)?`
const segment = '[a-z0-9]+(?:(?:[._]|__|[-]+)[a-z0-9]+)*'
const tag = '[\\w][\\w.-]{0,127}'
const digest = '[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}'
const reference = new RegExp(`^(?:${host}/)?${segment}(?:/${segment})*(?::(${tag}))?(?:@(${digest}))?$`)
const identifier = /^[a-f0-9]{64}$/

/** The tag of an image reference: `latest` when it has neither tag nor digest, empty when it has only a digest or cannot be parsed. */
export function imageTag(image: string): string {
  if (identifier.test(image)) return ''
  const match = reference.exec(image)
  if (!match) return ''
  return match[1] ?? (match[2] === undefined ? 'latest' : '')
}
