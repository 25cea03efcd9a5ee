import { escapeHtml } from './markdown.ts'
import { addressOf, hintsAddressOf, type Language, languages, type Page, relativeTo, type Section } from './page.ts'
import type { Heading, Rendered } from './render-page.ts'

const words: Record<
  Language,
  Record<
    'search' | 'menu' | 'theme' | 'skip' | 'contents' | 'edit' | 'next' | 'back' | 'version' | 'old' | 'types',
    string
  >
> = {
  en: {
    search: 'Search',
    menu: 'Menu',
    theme: 'Switch between light and dark',
    skip: 'Skip to content',
    contents: 'On this page',
    edit: 'Edit this page',
    next: 'Next',
    back: 'Previous',
    version: 'Version',
    old: 'You are reading the documentation of an old version. Current version:',
    types: 'Code with types: Enter and the arrow keys show them',
  },
  zh: {
    search: '搜索',
    menu: '菜单',
    theme: '切换浅色与深色',
    skip: '跳到正文',
    contents: '本页目录',
    edit: '编辑本页',
    next: '下一页',
    back: '上一页',
    version: '版本',
    old: '您正在阅读旧版本的文档。当前版本：',
    types: '带类型的代码：按 Enter 键和方向键查看',
  },
  ja: {
    search: '検索',
    menu: 'メニュー',
    theme: 'ライトとダークを切り替える',
    skip: '本文へ移動',
    contents: 'このページの内容',
    edit: 'このページを編集',
    next: '次へ',
    back: '前へ',
    version: 'バージョン',
    old: 'これは古いバージョンのドキュメントです。現在のバージョン：',
    types: '型情報付きコード：Enter キーと矢印キーで表示',
  },
  ru: {
    search: 'Поиск',
    menu: 'Меню',
    theme: 'Переключить светлую и тёмную тему',
    skip: 'Перейти к содержанию',
    contents: 'На этой странице',
    edit: 'Изменить страницу',
    next: 'Далее',
    back: 'Назад',
    version: 'Версия',
    old: 'Это документация старой версии. Текущая версия:',
    types: 'Код с типами: их показывают Enter и стрелки',
  },
}

/** The parts that surround a page. */
export interface Surroundings {
  readonly sections: readonly Section[]
  readonly titles: ReadonlyMap<string, string>
  /** Paths of the same page in other languages. */
  readonly translations: ReadonlyMap<Language, string>
  readonly repository: (path: string) => string
  /** The version that the site describes, such as `0.1`; undefined for the site of the working tree. */
  readonly version: string | undefined
}

/** The HTML document of a page. */
export function layOut(page: Page, rendered: Rendered, around: Surroundings): string {
  const address = addressOf(page.path)
  const say = words[page.language]
  const to = (path: string): string => relativeTo(address, path)
  const link = (path: string): string => to(addressOf(path))
  const order = around.sections.flatMap(({ pages }) => pages)
  const at = order.indexOf(page.path)
  const neighbour = (path: string | undefined, word: string, className: string): string =>
    path === undefined
      ? '<span></span>'
      : `<a class="${className}" href="${link(path)}"><small>${word}</small>${escapeHtml(around.titles.get(path)!)}</a>`
  const hints = rendered.hasHints ? ` data-hints="${to(hintsAddressOf(page.path))}"` : ''
  const isHome = page.fields['layout'] === 'home'
  const title = isHome ? page.title : `${page.title} · Kubewright`
  return `<!doctype html>
<html lang="${page.language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<meta name="description" content="${escapeHtml(page.description.slice(0, 200))}">
<link rel="icon" href="${to('icon.svg')}">
<link rel="stylesheet" href="${to('site.css')}">
<script>document.documentElement.dataset.theme = localStorage.getItem('theme') ?? ''</script>
<script src="${to('site.js')}" data-root="${to('')}" data-types="${say.types}" defer></script>${around.version === undefined ? '' : `\n<script src="${to('../versions.js')}" defer></script>`}
</head>
<body${isHome ? ' class="home"' : ''}>
<a class="skip" href="#content">${say.skip}</a>
<header class="top">
<button class="menu" type="button" aria-expanded="false" aria-controls="navigation">${say.menu}</button>
<a class="brand" href="${to(page.language === 'en' ? 'index.html' : `${page.language}/start/five-minutes.html`)}"><img src="${to('icon.svg')}" alt="" width="22" height="22">Kubewright</a>
<button class="search" type="button" aria-haspopup="dialog">${say.search} <kbd>/</kbd></button>
${versionMenu(address, around.version, say)}${languageMenu(page, around, link)}
<button class="theme" type="button" aria-label="${say.theme}" title="${say.theme}">◐</button>
<a href="${around.repository('')}">GitHub</a>
</header>
<div class="frame">
<nav id="navigation" aria-label="${say.menu}">
${around.sections.map((section) => navigation(section, page, around, link)).join('\n')}
</nav>
<main id="content">
<article${hints}>
${rendered.html}</article>
${isHome ? '' : `<footer><nav class="neighbours" aria-label="${say.back}, ${say.next}">${neighbour(order[at - 1], say.back, 'back')}${neighbour(at < 0 ? undefined : order[at + 1], say.next, 'next')}</nav>${page.isGenerated ? '' : `<a href="${around.repository(`docs/${page.path}`)}">${say.edit}</a>`}</footer>`}
</main>
${contents(rendered.headings, say.contents)}
</div>
<dialog class="finder" aria-label="${say.search}"><form method="dialog"><input type="search" aria-label="${say.search}" placeholder="${say.search}" autocomplete="off" spellcheck="false" role="combobox" aria-expanded="true" aria-controls="found"><button>Esc</button></form><ul id="found" role="listbox" aria-label="${say.search}"></ul></dialog>
</body>
</html>
`
}

function languageMenu(page: Page, around: Surroundings, link: (path: string) => string): string {
  const others = [...around.translations].filter(([language]) => language !== page.language)
  if (others.length === 0) return ''
  const links = others.map(
    ([language, path]) => `<a lang="${language}" href="${link(path)}">${languages[language]}</a>`,
  )
  return `<details class="choice"><summary>${languages[page.language]}</summary><div>${links.join('')}</div></details>`
}

/** The script fills the menu: the versions that follow are not known yet. */
function versionMenu(address: string, version: string | undefined, say: (typeof words)[Language]): string {
  if (version === undefined) return ''
  return `<details class="choice versions" data-version="${version}" data-page="${address}" data-old="${say.old}"><summary aria-label="${say.version} ${version}">${version}</summary><div></div></details>\n`
}

function navigation(section: Section, page: Page, around: Surroundings, link: (path: string) => string): string {
  const isOpen = section.pages.includes(page.path) || page.fields['layout'] === 'home'
  const items = section.pages.map((path) => {
    const current = path === page.path ? ' aria-current="page"' : ''
    return `<li><a href="${link(path)}"${current}>${escapeHtml(around.titles.get(path) ?? path)}</a></li>`
  })
  return `<details${isOpen ? ' open' : ''}><summary>${escapeHtml(section.title)}</summary><ul>${items.join('')}</ul></details>`
}

function contents(headings: readonly Heading[], title: string): string {
  const shown = headings.filter(({ level }) => level === 2 || level === 3)
  if (shown.length < 2) return ''
  const deep = shown.length > 40 ? shown.filter(({ level }) => level === 2) : shown
  const items = deep.map(({ level, id, text }) => `<li class="h${level}"><a href="#${id}">${escapeHtml(text)}</a></li>`)
  return `<aside><nav aria-label="${title}"><strong>${title}</strong><ul>${items.join('')}</ul></nav></aside>`
}
