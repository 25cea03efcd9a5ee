/**
 * Whether text for a stream is painted: NO_COLOR (https://no-color.org) turns colours off, FORCE_COLOR on; without both it takes a
 * terminal that is not dumb.
 */
export function wantsColors(
  stream: { readonly isTTY?: boolean },
  env: Readonly<Record<string, string | undefined>>,
): boolean {
  if (env['NO_COLOR']) return false
  const forced = env['FORCE_COLOR']
  if (forced !== undefined) return forced !== '0' && forced !== 'false'
  return stream.isTTY === true && env['TERM'] !== 'dumb'
}
