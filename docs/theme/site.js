// Behaviour of the site's pages: theme, menu, versions, search, copy buttons, types of names. Pages are readable without
// it.
const { root, types } = document.currentScript.dataset
const html = document.documentElement
const one = (selector) => document.querySelector(selector)

one('button.theme').addEventListener('click', () => {
  const isDark = html.dataset.theme ? html.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches
  html.dataset.theme = isDark ? 'light' : 'dark'
  localStorage.setItem('theme', html.dataset.theme)
})

const menu = one('button.menu')
menu.addEventListener('click', () => {
  const isOpen = document.body.classList.toggle('menu-open')
  menu.setAttribute('aria-expanded', String(isOpen))
})
one('#navigation [aria-current]')?.scrollIntoView({ block: 'nearest' })

for (const figure of document.querySelectorAll('figure.code:not(.output)')) {
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'copy'
  button.textContent = 'Copy'
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(figure.querySelector('code').textContent)
    button.textContent = 'Copied'
    setTimeout(() => (button.textContent = 'Copy'), 1500)
  })
  figure.append(button)
}

// Marks the section that is in view in the table of contents.
const contents = new Map([...document.querySelectorAll('aside a')].map((link) => [link.hash.slice(1), link]))
if (contents.size > 0) {
  const observer = new IntersectionObserver(
    (entries) => {
      const seen = entries.find((entry) => entry.isIntersecting)
      if (seen === undefined) return
      for (const link of contents.values()) link.classList.remove('current')
      contents.get(seen.target.id)?.classList.add('current')
    },
    { rootMargin: '-60px 0px -70% 0px' },
  )
  for (const id of contents.keys()) {
    const heading = document.getElementById(decodeURIComponent(id))
    if (heading) observer.observe(heading)
  }
}

// Search and types are loaded when a reader first uses them, as scripts: that works from a file system too.
const scripts = new Map()
function load(address) {
  if (!scripts.has(address)) {
    scripts.set(
      address,
      new Promise((resolve, reject) => {
        const script = document.createElement('script')
        script.src = address
        script.onload = resolve
        script.onerror = () => reject(new Error(`${address} could not be loaded`))
        document.head.append(script)
      }),
    )
  }
  return scripts.get(address)
}

const finder = one('dialog.finder')
const input = finder.querySelector('input')
const found = finder.querySelector('ul')
const loadSearch = () => load(`${root}search.js`)

async function update() {
  const query = input.value.trim()
  await loadSearch()
  const results = query === '' ? [] : globalThis.kubewrightSearch.search(query, html.lang)
  found.replaceChildren(
    ...results.map((result, i) => {
      const item = document.createElement('li')
      item.role = 'option'
      item.ariaSelected = String(i === 0)
      const link = document.createElement('a')
      link.href = root + result.address
      link.tabIndex = -1
      const title = document.createElement('strong')
      title.textContent = result.heading ? `${result.title} › ${result.heading}` : result.page
      const excerpt = document.createElement('span')
      excerpt.textContent = result.excerpt
      link.append(title, excerpt)
      item.append(link)
      return item
    }),
  )
}

function openFinder() {
  if (finder.open) return
  finder.showModal()
  input.select()
  void loadSearch()
}

function select(step) {
  const items = [...found.children]
  const at = items.findIndex((item) => item.ariaSelected === 'true')
  const next = items[Math.max(0, Math.min(items.length - 1, at + step))]
  if (next === undefined) return
  for (const item of items) item.ariaSelected = String(item === next)
  next.scrollIntoView({ block: 'nearest' })
}

one('button.search').addEventListener('click', openFinder)
input.addEventListener('input', () => void update())
finder.addEventListener('click', (event) => {
  if (event.target === finder || event.target.closest('a')) finder.close()
})
input.addEventListener('keydown', (event) => {
  if (event.key === 'ArrowDown') select(1)
  else if (event.key === 'ArrowUp') select(-1)
  else if (event.key === 'Enter') {
    found.querySelector('[aria-selected="true"] a')?.click()
  } else return
  event.preventDefault()
})
addEventListener('keydown', (event) => {
  const isTyping = event.target instanceof HTMLElement && event.target.closest('input, textarea, select')
  const isShortcut = event.key === '/' || (event.key === 'k' && (event.ctrlKey || event.metaKey))
  if (!isShortcut || isTyping) return
  event.preventDefault()
  openFinder()
})

// The versions beside this one. A menu entry leads to the same page where that version has it.
const versions = one('.versions')
addEventListener('DOMContentLoaded', () => {
  const pages = globalThis.kubewrightVersions
  if (!versions || !pages) return
  const { version, page, old } = versions.dataset
  const linkTo = (name) => {
    const link = document.createElement('a')
    link.href = `${root}../${name}/${pages[name].includes(page) ? page : 'index.html'}`
    link.textContent = name
    return link
  }
  const names = Object.keys(pages).sort((a, b) => b.localeCompare(a, 'en', { numeric: true }))
  versions.querySelector('div').append(...names.filter((name) => name !== version).map(linkTo))
  if (names.length === 1) versions.querySelector('div').hidden = true
  if (names[0] === version) return
  const notice = document.createElement('p')
  notice.className = 'old'
  notice.append(`${old} `, linkTo(names[0]))
  one('main').prepend(notice)
})

// The type of the name under the pointer or the finger. With the keyboard, Enter in a code block leads to its names.
const hints = document.createElement('template')
globalThis.kubewrightHints = (text) => {
  hints.innerHTML = text
}
const tip = document.createElement('div')
tip.id = 'tip'
tip.role = 'tooltip'
tip.popover = 'manual'
one('main').append(tip)
let shown
let hiding
async function show(name) {
  clearTimeout(hiding)
  shown = name
  await load(one('[data-hints]').dataset.hints)
  if (shown !== name) return
  one('[aria-describedby="tip"]')?.removeAttribute('aria-describedby')
  tip.replaceChildren(...hints.content.children[name.dataset.hint].cloneNode(true).children)
  tip.showPopover()
  name.setAttribute('aria-describedby', 'tip')
  place()
}
function place() {
  const { left, top, bottom } = shown.getBoundingClientRect()
  const { width, height } = tip.getBoundingClientRect()
  tip.style.left = `${Math.max(8, Math.min(left, innerWidth - width - 8))}px`
  tip.style.top = `${bottom + height + 8 > innerHeight && top > height ? top - height - 4 : bottom + 4}px`
}
function hide() {
  clearTimeout(hiding)
  shown = undefined
  one('[aria-describedby="tip"]')?.removeAttribute('aria-describedby')
  tip.hidePopover()
}
const hideSoon = () => {
  clearTimeout(hiding)
  hiding = setTimeout(hide, 200)
}
tip.addEventListener('pointerenter', () => clearTimeout(hiding))
tip.addEventListener('pointerleave', hideSoon)
// Focus by keyboard may scroll the page: the tip follows then.
function follow({ target }) {
  if (shown && shown === document.activeElement) place()
  else if (target !== tip) hide()
}
addEventListener('scroll', follow, { passive: true, capture: true })
addEventListener('keydown', (event) => event.key === 'Escape' && hide())
for (const block of document.querySelectorAll('pre:has([data-hint])')) {
  const names = [...block.querySelectorAll('[data-hint]')]
  for (const name of names) {
    name.tabIndex = -1
    name.role = 'term'
  }
  block.role = 'group'
  block.ariaLabel = types
  const nameOf = (event) => event.target.closest('[data-hint]')
  block.addEventListener('pointerover', (event) => nameOf(event) && void show(nameOf(event)))
  block.addEventListener('pointerout', hideSoon)
  block.addEventListener('focusin', (event) => nameOf(event) && void show(nameOf(event)))
  block.addEventListener('focusout', hideSoon)
  block.addEventListener('keydown', (event) => {
    const at = names.indexOf(document.activeElement)
    const step = { Enter: 1, ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key]
    if (event.key === 'Escape') block.focus()
    if (step === undefined || (at < 0 && event.key !== 'Enter')) return
    event.preventDefault()
    names[Math.max(0, Math.min(names.length - 1, at + step))].focus()
  })
}
