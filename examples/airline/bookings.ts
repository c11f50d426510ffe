import type { BookedFlight, Cabin, Passenger, Payment, Reservation, User, World } from './world';
import { Unwilling, userOf } from './world';

export interface WantedFlight {
  flight_number: string;
  date: string;
}
export interface Booking {
  user_id: string;
  origin: string;
  destination: string;
  flight_type: string;
  cabin: Cabin;
  flights: WantedFlight[];
  passengers: Passenger[];
  payment_methods: Payment[];
  total_baggages: number;
  nonfree_baggages: number;
  insurance: 'yes' | 'no';
}

/** Ids of what has no id of its own yet, in the order in which a world gives them out. */
const RESERVATION_IDS = ['HATHAT', 'HATHAU', 'HATHAV'];
/** The airline's today. */
const BOOKED_AT = '2024-05-15T15:00:00';
const INSURANCE = 30;
export const BAGGAGE = 50;

/** Books what was asked for if there are seats and the payments are exactly its price. */
export function book(world: World, booking: Booking): Reservation {
  const user = userOf(world, booking.user_id);
  const id = RESERVATION_IDS.find((one) => !(one in world.reservations));
  if (!id) throw new Unwilling('no reservation ids left');
  const people = booking.passengers.length;
  const flights = booking.flights.map((flight) => seated(world, flight, booking.cabin, people));
  const insured = booking.insurance === 'yes' ? INSURANCE * people : 0;
  const price =
    sum(flights.map((flight) => flight.price)) * people + insured + BAGGAGE * booking.nonfree_baggages;
  requirePayments(user, booking.payment_methods);
  const paid = sum(booking.payment_methods.map(({ amount }) => amount));
  if (paid !== price)
    throw new Unwilling(`payment amount does not add up, total price is ${price}, but paid ${paid}`);
  for (const payment of booking.payment_methods) spend(user, payment);
  const reservation = reservationFrom(id, booking, flights);
  world.reservations[id] = reservation;
  user.reservations.push(id);
  return reservation;
}

function reservationFrom(id: string, booking: Booking, flights: BookedFlight[]): Reservation {
  const { payment_methods, total_baggages, nonfree_baggages, insurance, ...asked } = booking;
  const { user_id, origin, destination, flight_type, cabin, passengers } = asked;
  const who = { reservation_id: id, user_id, origin, destination, flight_type, cabin, flights, passengers };
  const paid = { payment_history: [...payment_methods], created_at: BOOKED_AT };
  return { ...who, ...paid, total_baggages, nonfree_baggages, insurance };
}

export const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);

/** The flight as it will be booked, if it goes on that day and has seats for so many. */
export function seated(world: World, wanted: WantedFlight, cabin: Cabin, people: number): BookedFlight {
  const number = wanted.flight_number;
  const flight = world.flights[number];
  if (!flight) throw new Unwilling(`flight ${number} not found`);
  const day = flight.dates[wanted.date];
  if (!day) throw new Unwilling(`flight ${number} not found on date ${wanted.date}`);
  if (day.status !== 'available')
    throw new Unwilling(`flight ${number} not available on date ${wanted.date}`);
  if ((day.available_seats?.[cabin] ?? 0) < people)
    throw new Unwilling(`not enough seats on flight ${number}`);
  const { origin, destination } = flight;
  return { ...wanted, price: day.prices?.[cabin] ?? 0, origin, destination };
}

function requirePayments(user: User, payments: readonly Payment[]): void {
  for (const { payment_id: id, amount } of payments) {
    const method = user.payment_methods[id];
    if (!method) throw new Unwilling(`payment method ${id} not found`);
    if (method.source !== 'credit_card' && (method.amount ?? 0) < amount)
      throw new Unwilling(`not enough balance in payment method ${id}`);
  }
}

/** A gift card is drawn on; a certificate is used up whole. */
function spend(user: User, { payment_id: id, amount }: Payment): void {
  const method = user.payment_methods[id];
  if (method?.source === 'gift_card') method.amount = (method.amount ?? 0) - amount;
  if (method?.source === 'certificate') delete user.payment_methods[id];
}
