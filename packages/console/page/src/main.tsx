import { render } from 'preact'
import { App } from './app.tsx'
import { connection } from './connection.ts'
import { openSession } from './open-session.ts'
import { Refused } from './refused.tsx'
import { applyTheme, storedTheme } from './settings.ts'
import { currentLanguage, setLanguage } from './text.ts'
import { drawVisibleTexts } from './visible-text.ts'

drawVisibleTexts()
applyTheme(storedTheme())
setLanguage(currentLanguage())
const root = document.getElementById('app')
if (root) {
  // The frame of the page needs no session, so it is drawn while the session is opened.
  render(<App />, root)
  if (await openSession()) connection.open()
  else render(<Refused />, root)
}
