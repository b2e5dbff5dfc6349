import { describe, expect, it } from 'vitest'
import { nearest } from '../../src/policy/nearest.js'

const KEYS = ['maxAttempts', 'retryOn', 'onHeaders', 'backoff', 'openFor', 'maxOpenFor', 'mode', 'cap']

describe('the nearest word', () => {
  it.each([
    ['maxAtempts', 'maxAttempts'],
    ['maxAttemtps', 'maxAttempts'],
    ['max_attempts', 'maxAttempts'],
    ['MAX-ATTEMPTS', 'maxAttempts'],
    ['attempts', 'maxAttempts'],
    ['attemps', 'maxAttempts'],
    ['openfr', 'openFor'],
    ['back', 'backoff'],
    ['mod', 'mode'],
    ['cpa', 'cap'],
  ])('to %s is %s', (word, key) => {
    expect(nearest(word, KEYS)).toBe(key)
  })

  it.each(['x', 'target', 'timeouts', '', 'a'.repeat(5000)])('to %j is none', word => {
    expect(nearest(word, KEYS)).toBeNull()
  })
})
