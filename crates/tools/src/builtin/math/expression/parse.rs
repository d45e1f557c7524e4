//! From text to a value, in one pass of precedence climbing.
//!
//! The depth bound is enforced on the way down, so hostile nesting ends after a few dozen frames. A
//! syntax tree, or a program for a stack, was measured and rejected: making and dropping it took half
//! the time of a short expression. Computing while parsing must not change which fault is reported, so
//! faults are kept apart by kind: those of characters and tokens anywhere in the text come before those
//! of the grammar, then come names, and last values. Once a value is missing, nothing more is computed.

use mast_kernel::limits::EXPRESSION_DEPTH_MAX;

use super::decimal::{Arithmetic, Decimal};
use super::evaluate::{Binary, apply, call};
use super::fault::{Fault, Reason};
use super::name::{Constant, Function};
use super::token::{Kind, Lexer, Token};

/// The value of `expression`, and whether it is exact.
pub(super) fn evaluate(expression: &str) -> Result<(Decimal, bool), Fault> {
    let mut lexer = Lexer::new(expression)?;
    let token = lexer.token()?;
    let arithmetic = Arithmetic::new();
    let mut parser = Parser { lexer, token, depth: 0, arithmetic, name_fault: None, value_fault: None };
    match parser.whole() {
        Ok(value) => parser.result(value),
        // What is wrong with a token further on counts more. A token that was refused is refused again.
        Err(fault) => Err(parser.lexer.rest().err().unwrap_or(fault)),
    }
}

/// How tightly an operator that stands between its operands binds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Sum,
    Product,
}

const fn infix(kind: Kind) -> Option<(Level, Binary)> {
    match kind {
        Kind::Plus => Some((Level::Sum, Binary::Add)),
        Kind::Minus => Some((Level::Sum, Binary::Subtract)),
        Kind::Times => Some((Level::Product, Binary::Multiply)),
        Kind::Over => Some((Level::Product, Binary::Divide)),
        Kind::FloorOver => Some((Level::Product, Binary::FloorDivide)),
        Kind::Modulo => Some((Level::Product, Binary::Modulo)),
        Kind::Number | Kind::Name | Kind::Power | Kind::Open | Kind::Close | Kind::Comma | Kind::End => None,
    }
}

#[derive(Debug)]
struct Parser<'a> {
    lexer: Lexer<'a>,
    /// The token that is looked at.
    token: Token,
    depth: usize,
    arithmetic: Arithmetic,
    /// The leftmost fault of a name.
    name_fault: Option<(usize, Reason)>,
    /// The first fault of a value, and of what.
    value_fault: Option<(usize, Reason, &'static str)>,
}

impl<'a> Parser<'a> {
    /// An expression and nothing after it.
    fn whole(&mut self) -> Result<Decimal, Fault> {
        let value = self.expression(Level::Sum)?;
        if self.token.kind == Kind::End { Ok(value) } else { Err(self.unexpected()) }
    }

    /// What is said of text that parses to `value`.
    fn result(self, value: Decimal) -> Result<(Decimal, bool), Fault> {
        let expression = self.lexer.expression();
        if let Some((place, reason)) = self.name_fault {
            let what = if reason == Reason::Arity { "wrong number of arguments" } else { "unknown name" };
            return Err(Fault::at(reason, expression, place, what));
        }
        if let Some((place, reason, what)) = self.value_fault {
            return Err(Fault::at(reason, expression, place, what));
        }
        Ok((value, self.arithmetic.exact))
    }

    /// Operands joined by operators that bind at least as tightly as `loosest`.
    fn expression(&mut self, loosest: Level) -> Result<Decimal, Fault> {
        let mut left = self.unary()?;
        while let Some((level, operator)) = infix(self.token.kind).filter(|(level, _)| *level >= loosest) {
            let place = self.advance()?.start;
            let right = if level == Level::Sum { self.expression(Level::Product)? } else { self.unary()? };
            left = self
                .computed(place, operator.as_str(), |arithmetic| apply(arithmetic, operator, left, right));
        }
        Ok(left)
    }

    /// `("+" | "-") unary | power`.
    fn unary(&mut self) -> Result<Decimal, Fault> {
        let kind = self.token.kind;
        if !matches!(kind, Kind::Plus | Kind::Minus) {
            return self.power();
        }
        self.descend()?;
        self.advance()?;
        let operand = self.unary()?;
        self.depth -= 1;
        Ok(if kind == Kind::Minus { operand.negated() } else { operand })
    }

    /// `primary [("^" | "**") unary]`. A chain of powers groups from the right; it is read in a loop, so
    /// that it costs no depth.
    fn power(&mut self) -> Result<Decimal, Fault> {
        let first = self.primary()?;
        if self.token.kind != Kind::Power {
            return Ok(first);
        }
        let mut bases = vec![(first, self.token.start)];
        let mut exponent = loop {
            self.advance()?;
            if matches!(self.token.kind, Kind::Plus | Kind::Minus) {
                break self.unary()?;
            }
            let operand = self.primary()?;
            if self.token.kind != Kind::Power {
                break operand;
            }
            bases.push((operand, self.token.start));
        };
        while let Some((base, place)) = bases.pop() {
            exponent = self.computed(place, "power", |arithmetic| arithmetic.power(base, &exponent));
        }
        Ok(exponent)
    }

    /// `NUMBER | NAME | call | "(" expression ")"`.
    fn primary(&mut self) -> Result<Decimal, Fault> {
        match self.token.kind {
            Kind::Number => {
                let token = self.advance()?;
                let text = self.text(token);
                Ok(self.computed(token.start, "number", |arithmetic| arithmetic.literal(text)))
            }
            Kind::Name => self.name(),
            Kind::Open => {
                self.descend()?;
                self.advance()?;
                let value = self.expression(Level::Sum)?;
                self.depth -= 1;
                self.close()?;
                Ok(value)
            }
            Kind::Plus
            | Kind::Minus
            | Kind::Times
            | Kind::Over
            | Kind::FloorOver
            | Kind::Modulo
            | Kind::Power
            | Kind::Close
            | Kind::Comma
            | Kind::End => Err(self.unexpected()),
        }
    }

    /// A constant, or a function if a parenthesis follows.
    fn name(&mut self) -> Result<Decimal, Fault> {
        let token = self.advance()?;
        let (place, text) = (token.start, self.text(token));
        if self.token.kind != Kind::Open {
            let Some(constant) = Constant::named(text) else {
                return Ok(self.misnamed(place, Reason::UnknownName));
            };
            return Ok(self.computed(place, "constant", |arithmetic| arithmetic.literal(constant.digits())));
        }
        self.advance()?;
        let arguments = self.arguments()?;
        let Some(function) = Function::named(text) else {
            return Ok(self.misnamed(place, Reason::UnknownName));
        };
        if !function.takes(arguments.len()) {
            return Ok(self.misnamed(place, Reason::Arity));
        }
        Ok(self.computed(place, function.as_str(), |arithmetic| call(arithmetic, function, arguments)))
    }

    /// `[expression ("," expression)*] ")"`.
    fn arguments(&mut self) -> Result<Vec<Decimal>, Fault> {
        let mut arguments = Vec::new();
        if self.token.kind != Kind::Close {
            loop {
                self.descend()?;
                arguments.push(self.expression(Level::Sum)?);
                self.depth -= 1;
                if self.token.kind != Kind::Comma {
                    break;
                }
                self.advance()?;
            }
        }
        self.close()?;
        Ok(arguments)
    }

    /// What `compute` answers; zero where that, or a name or value before it, is at fault.
    fn computed(
        &mut self,
        place: usize,
        what: &'static str,
        compute: impl FnOnce(&mut Arithmetic) -> Result<Decimal, Reason>,
    ) -> Decimal {
        if self.name_fault.is_some() || self.value_fault.is_some() {
            return Decimal::ZERO;
        }
        compute(&mut self.arithmetic).unwrap_or_else(|reason| {
            self.value_fault = Some((place, reason, what));
            Decimal::ZERO
        })
    }

    /// Notes the fault of a name; the leftmost one is reported, so a function's before its arguments'.
    fn misnamed(&mut self, place: usize, reason: Reason) -> Decimal {
        if self.name_fault.is_none_or(|(first, _)| place < first) {
            self.name_fault = Some((place, reason));
        }
        Decimal::ZERO
    }

    /// One level down: a group, an argument or a sign.
    fn descend(&mut self) -> Result<(), Fault> {
        if self.depth == EXPRESSION_DEPTH_MAX {
            let (expression, place) = (self.lexer.expression(), self.token.start);
            return Err(Fault::at(Reason::ExpressionTooDeep, expression, place, "nested too deeply"));
        }
        self.depth += 1;
        Ok(())
    }

    /// Goes on to the next token, and gives back the one before.
    fn advance(&mut self) -> Result<Token, Fault> {
        let next = self.lexer.token()?;
        Ok(std::mem::replace(&mut self.token, next))
    }

    fn close(&mut self) -> Result<(), Fault> {
        if self.token.kind != Kind::Close {
            return Err(self.unexpected());
        }
        self.advance()?;
        Ok(())
    }

    fn text(&self, token: Token) -> &'a str {
        self.lexer.expression().get(token.start..token.end).unwrap_or_default()
    }

    fn unexpected(&self) -> Fault {
        let what = match self.text(self.token) {
            "" => "the expression ends too early".to_owned(),
            text => format!("unexpected {text}"),
        };
        Fault::at(Reason::Syntax, self.lexer.expression(), self.token.start, &what)
    }
}

#[cfg(test)]
mod tests {
    use super::super::calculate;
    use super::*;
    use expect_test::{Expect, expect};

    /// Compares the result, or the fault.
    fn check(expression: &str, expect: &Expect) {
        let text = calculate(expression).map_or_else(|fault| fault.to_string(), |answer| answer.result);
        expect.assert_eq(&text);
    }

    #[test]
    fn precedence_and_grouping() {
        check("1+2*3-4", &expect!["3"]);
        check("100//7%5*4/2", &expect!["8"]);
        check("20-8-5", &expect!["7"]);
        check("2^3^2", &expect!["512"]);
        check("(2^3)**2", &expect!["64"]);
        check("-2^2", &expect!["-4"]);
        check("2^-3^2*512", &expect!["1"]);
        check("2^-1", &expect!["0.5"]);
        check("--+-7", &expect!["-7"]);
        check("(1+2)*-max(1,-pi, 2)", &expect!["-6"]);
    }

    #[test]
    fn faults_say_where() {
        check("1 +", &expect!["tool.invalid_arguments.syntax: character 4: the expression ends too early"]);
        check("sqrt 4", &expect!["tool.invalid_arguments.syntax: character 6: unexpected 4"]);
        check(
            "2 + ln(x, foo())",
            &expect!["tool.invalid_arguments.arity: character 5: wrong number of arguments"],
        );
        check("e(1) + sqrt()", &expect!["tool.invalid_arguments.unknown_name: character 1: unknown name"]);
        check("7 - ln(2 - 3)", &expect!["tool.invalid_arguments.domain: character 5: ln"]);
        check("2^0^0", &expect!["tool.invalid_arguments.domain: character 4: power"]);
    }

    #[test]
    fn the_kind_of_fault_decides_which_is_reported() {
        let many = "+1".repeat(500);
        check(
            &format!("(1/0 + x {many}"),
            &expect![
                "tool.invalid_arguments.expression_too_long: character 516: more tokens than an expression may have"
            ],
        );
        check(
            "1/0 + ) $",
            &expect!["tool.invalid_arguments.syntax: character 9: a character that no token begins with"],
        );
        check("1/0 + x + )", &expect!["tool.invalid_arguments.syntax: character 11: unexpected )"]);
        check("1/0 + x", &expect!["tool.invalid_arguments.unknown_name: character 7: unknown name"]);
        check("ln(0) + 1/0", &expect!["tool.invalid_arguments.domain: character 1: ln"]);
    }

    #[test]
    fn depth_counts_groups_arguments_and_signs_but_not_powers() {
        let nested = |open: &str, n: usize| {
            let close = if open == "-" { String::new() } else { ")".repeat(n) };
            calculate(&format!("{}1{close}", open.repeat(n))).map(|_| ()).map_err(|fault| fault.reason)
        };
        for open in ["(", "abs(", "-"] {
            assert_eq!(nested(open, EXPRESSION_DEPTH_MAX), Ok(()), "{open}");
            assert_eq!(nested(open, EXPRESSION_DEPTH_MAX + 1), Err(Reason::ExpressionTooDeep), "{open}");
        }
        check(&format!("1{}", "^1".repeat(255)), &expect!["1"]);
    }
}
