/**
 * Exchanges the token in the fragment of the link for a cookie, and removes it from the address. Resolves to false if
 * there is neither a valid token nor a session.
 */
export async function openSession(): Promise<boolean> {
  const token = /^#([0-9a-f]{48})$/.exec(location.hash)?.[1]
  if (token !== undefined) history.replaceState(null, '', '#/')
  const response = await fetch('session', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token }),
  })
  return response.ok
}
