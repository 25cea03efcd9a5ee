import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

/** A modal dialog. Escape closes it, and the focus returns to where it was. */
export function Dialog(props: {
  readonly label: string
  readonly onClose: () => void
  readonly children: ComponentChildren
}) {
  const element = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    element.current?.showModal()
  }, [])
  return (
    <dialog ref={element} aria-label={props.label} onClose={props.onClose}>
      {props.children}
    </dialog>
  )
}
