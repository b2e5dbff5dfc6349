/** The three forms of an HTTP-date (RFC 9110 §5.6.7), and no other. */

const DAY_MS = 86_400_000
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
const MONTH_DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

const MONTH = `(?<month>${MONTHS.join('|')})`
const TIME = '(?<hour>\\d\\d):(?<minute>\\d\\d):(?<second>\\d\\d)'
const SHORT_DAY = '(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)'
const LONG_DAY = '(?:Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday)'
/** `Sun, 06 Nov 1994 08:49:37 GMT` */
const IMF_FIXDATE = new RegExp(`^${SHORT_DAY}, (?<day>\\d\\d) ${MONTH} (?<year>\\d{4}) ${TIME} GMT$`)
/** `Sunday, 06-Nov-94 08:49:37 GMT` */
const RFC_850 = new RegExp(`^${LONG_DAY}, (?<day>\\d\\d)-${MONTH}-(?<year>\\d\\d) ${TIME} GMT$`)
/** `Sun Nov  6 08:49:37 1994` */
const ASCTIME = new RegExp(`^${SHORT_DAY} ${MONTH} (?<day>\\d\\d| \\d) ${TIME} (?<year>\\d{4})$`)

/**
 * Unix time in ms, or `null` for anything else. The name of the weekday must be one, but need not be the right one.
 * @param wallNowMs decides the century of a two-digit year
 */
export function parseHttpDate(value: string, wallNowMs: number): number | null {
  const full = IMF_FIXDATE.exec(value) ?? ASCTIME.exec(value)
  if (full?.groups) return instantMs(full.groups, Number(full.groups.year))
  const short = RFC_850.exec(value)
  if (short?.groups) return twoDigitYearMs(short.groups, wallNowMs)
  return null
}

type Parts = Readonly<Record<string, string>>

function instantMs(parts: Parts, year: number): number | null {
  const day = Number(parts.day)
  // Second 60 is a leap second.
  const valid = day >= 1 && day <= daysIn(MONTHS.indexOf(parts.month!), year)
  const clock = Number(parts.hour) <= 23 && Number(parts.minute) <= 59 && Number(parts.second) <= 60
  return valid && clock ? uncheckedMs(parts, year) : null
}

function uncheckedMs(parts: Parts, year: number): number {
  const minutes = Number(parts.hour) * 60 + Number(parts.minute)
  const days = daysSince1970(year, MONTHS.indexOf(parts.month!), Number(parts.day))
  return days * DAY_MS + (minutes * 60 + Number(parts.second)) * 1000
}

/** More than 50 years ahead means the most recent past year with these digits (RFC 9110 §5.6.7). */
function twoDigitYearMs(parts: Parts, wallNowMs: number): number | null {
  const latest = yearOf(wallNowMs) + 50
  const year = latest - ((latest - Number(parts.year)) % 100)
  const tooFar = uncheckedMs(parts, year - 50) > wallNowMs
  return instantMs(parts, tooFar ? year - 100 : year)
}

function yearOf(atMs: number): number {
  const days = Math.floor(atMs / DAY_MS)
  let year = 1970 + Math.floor(days / 365.2425)
  while (daysSince1970(year, 0, 1) > days) year--
  while (daysSince1970(year + 1, 0, 1) <= days) year++
  return year
}

function isLeap(year: number): boolean {
  return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0
}

function daysIn(month: number, year: number): number {
  return month === 1 && isLeap(year) ? 29 : MONTH_DAYS[month]!
}

/** Proleptic Gregorian calendar; `month` from 0, `day` from 1. */
function daysSince1970(year: number, month: number, day: number): number {
  const past = year - 1
  const leapDays = Math.floor(past / 4) - Math.floor(past / 100) + Math.floor(past / 400)
  let days = past * 365 + leapDays - 719_162 + day - 1
  for (let m = 0; m < month; m++) days += daysIn(m, year)
  return days
}
