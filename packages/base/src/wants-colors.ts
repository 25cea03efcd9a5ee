/**
 * Reports whether output to a stream is coloured. NO_COLOR (https://no-color.org) disables colours, FORCE_COLOR enables
 * them. Without either variable, colours require a terminal whose TERM is not `dumb`.
 */
export function wantsColors(
  stream: { readonly isTTY?: boolean | undefined },
  env: Readonly<Record<string, string | undefined>>,
): boolean {
  if (env['NO_COLOR']) return false
  const forced = env['FORCE_COLOR']
  if (forced !== undefined) return forced !== '0' && forced !== 'false'
  return stream.isTTY === true && env['TERM'] !== 'dumb'
}
