// Behaviour of the site's pages: theme, menu, search, copy buttons. Pages are readable without it.
import { search } from '../../tools/site/search.ts'

const root = document.currentScript?.dataset.root ?? ''
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

// The index is loaded when the search is first opened, as a script: that works from a file system too.
const finder = one('dialog.finder')
const input = finder.querySelector('input')
const found = finder.querySelector('ul')
let index
function load() {
  index ??= new Promise((resolve, reject) => {
    const script = document.createElement('script')
    script.src = `${root}search-index.js`
    script.onload = () => resolve(globalThis.kubewrightSearchIndex)
    script.onerror = () => reject(new Error('the search index could not be loaded'))
    document.head.append(script)
  })
  return index
}

async function update() {
  const query = input.value.trim()
  const results = query === '' ? [] : search(await load(), query, html.lang)
  found.replaceChildren(
    ...results.map((result, i) => {
      const item = document.createElement('li')
      item.role = 'option'
      item.ariaSelected = String(i === 0)
      const link = document.createElement('a')
      link.href = root + result.address
      link.tabIndex = -1
      const title = document.createElement('strong')
      title.textContent = result.heading ? `${result.title} › ${result.heading}` : result.title
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
  void load()
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
