import { useEffect, useState } from 'preact/hooks'
import type { AccessView as Access } from '../../src/wire/access-view.ts'
import type { ObjectName } from '../../src/wire/names.ts'
import { connection } from './connection.ts'
import { text } from './text.ts'

/** Who may use each verb on an object, and through which binding. */
export function AccessView({ name }: { readonly name: ObjectName }) {
  const [access, setAccess] = useState<readonly Access[]>()
  const [problem, setProblem] = useState<string>()
  useEffect(() => {
    let isCurrent = true
    void connection.request({ type: 'access', object: name }).then((response) => {
      if (!isCurrent) return
      setAccess(response.access)
      setProblem(response.error)
    })
    return () => {
      isCurrent = false
    }
  }, [JSON.stringify(name)])
  if (problem) return <p class="problem">{problem}</p>
  if (access === undefined) return <p class="empty">{text('loading')}</p>
  return (
    <table class="plain-table">
      <thead>
        <tr>
          <th>{text('verb')}</th>
          <th>{text('you')}</th>
          <th>{text('subjects')}</th>
        </tr>
      </thead>
      <tbody>
        {access.map(({ verb, isAllowed, subjects }) => (
          <tr key={verb}>
            <td class="code">{verb}</td>
            <td class={isAllowed ? 'good' : 'bad'}>{text(isAllowed ? 'yes' : 'no')}</td>
            <td>
              {subjects === undefined && <span class="quiet">{text('noRbac')}</span>}
              {subjects?.map(({ subject, binding }) => (
                <span key={`${subject} ${binding}`} class="chip" title={binding}>
                  {subject}
                </span>
              ))}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
